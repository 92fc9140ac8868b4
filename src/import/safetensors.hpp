// Named tensors in the safetensors format: an 8-byte header length, a JSON header, the bytes of the tensors.
// (Format: github.com/huggingface/safetensors, README.)
//
// The file is untrusted. The header is at most 100 MB, names no tensor twice, and its offsets cover the data
// from the first byte to the last without holes or overlap, so tensors are never larger than the file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "tensor/tensor.hpp"

namespace hone::importer {

using NamedTensors = std::map<std::string, tensor::Tensor>;

/// Returns views of the mapped file. Throws bad input that names file, tensor and field if the file breaks a
/// rule or uses an element type that hone's tensors do not support.
NamedTensors read_safetensors(const std::filesystem::path& file);
/// Reads them from memory that `owner` keeps alive (copied if there is no owner).
NamedTensors read_safetensors(std::span<const std::byte> bytes,
                              const std::shared_ptr<const void>& owner = {});

/// Writes the file atomically, with the tensors in the order of their names.
void write_safetensors(const std::filesystem::path& file, const NamedTensors& tensors);

}  // namespace hone::importer
