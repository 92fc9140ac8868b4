// Engines on disk. Data only, never code.
//
//   8 bytes  magic "HONE\x1A\x01\x0D\x0A"
//   4 bytes  version (4), little-endian like all numbers
//   4 bytes  CRC-32 of everything from byte 16 on
//   8 bytes  length of the JSON header
//   header   JSON; "blobs" is a list of [offset, length] in the data that follows
//   padding  zeros up to a multiple of 64 bytes from the start of the file
//   data     blobs, each at a multiple of 64 bytes, in order, with nothing but padding between them
//
// A file is checked in full before anything in it is used: lengths, checksum, offsets without holes or
// overlap, and the graph as strictly as an imported one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "engine/engine.hpp"

namespace hone::engine {

/// Writes the file whole or not at all. Constants that kernels hold in packed form only are stored in that
/// form.
void save_engine(const Engine& engine, const Device& device, const std::filesystem::path& path);

/// Bytes of the file that save_engine() would write.
int64_t engine_file_bytes(const Engine& engine, const Device& device);

/// An engine whose weights stay in `bytes`, which `owner` keeps alive. Bad input, naming the field, for bytes
/// that are no valid engine.
std::shared_ptr<Engine> read_engine(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

/// Maps the file; weights stay in the map. Bad input, naming the field, for a file that is no valid engine.
std::shared_ptr<Engine> load_engine(const std::filesystem::path& path);

/// True if a path means an engine: it is named .hone, or the file starts as an engine does. Bad input for a
/// pipe or a device, of which reading would take what comes next.
bool is_engine_file(const std::filesystem::path& path);

}  // namespace hone::engine
