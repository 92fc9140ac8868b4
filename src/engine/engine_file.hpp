// Engines in files. A file contains only data, never code.
//
//   8 bytes  magic "HONE\x1A\x01\x0D\x0A"
//   4 bytes  version (4), little-endian like all numbers
//   4 bytes  CRC-32 of everything from byte 16 on
//   8 bytes  length of the JSON header
//   header   JSON; "blobs" is a list of [offset, length] in the data that follows
//   padding  zeros up to a multiple of 64 bytes from the start of the file
//   data     blobs, each at a multiple of 64 bytes, in order, with nothing but padding between them
//
// A file is checked completely before it is used: lengths, checksum, offsets without gaps or overlaps, and
// the graph as strictly as an imported one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "engine/engine.hpp"

namespace hone::engine {

/// Publishes the file only when it is complete. Constants that kernels use only in packed form are stored in
/// that form.
void save_engine(const Engine& engine, const Device& device, const std::filesystem::path& path);

/// Size of the file that save_engine() would write, in bytes.
int64_t engine_file_bytes(const Engine& engine, const Device& device);

/// Returns an engine whose weights stay in `bytes`; `owner` keeps these alive. Bad input that names the field
/// if the bytes are not a valid engine.
std::shared_ptr<Engine> read_engine(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

/// Maps the file into memory, where its weights stay. Bad input that names the field if the file is not a
/// valid engine.
std::shared_ptr<Engine> load_engine(const std::filesystem::path& path);

/// True if a path refers to an engine: it has the extension .hone, or the file starts like an engine. Bad
/// input for a pipe or a device, because reading would consume its data.
bool is_engine_file(const std::filesystem::path& path);

}  // namespace hone::engine
