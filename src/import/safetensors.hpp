// Named tensors in the safetensors format: an 8-byte header length, a JSON header, the bytes of the tensors.
// (Format: github.com/huggingface/safetensors, README.)
//
// The file is untrusted. The header is at most 100 MB, names no tensor twice, and its offsets cover the data
// from the first byte to the last without holes or overlap, so what is loaded is never larger than the file.
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

/// Tensors that view the mapped file. Bad input, naming file, tensor and field, when the file breaks a rule
/// or uses an element type that tensors cannot have.
NamedTensors read_safetensors(const std::filesystem::path& file);
/// The same from memory that `owner` keeps alive (copied when there is no owner).
NamedTensors read_safetensors(std::span<const std::byte> bytes,
                              const std::shared_ptr<const void>& owner = {});

/// Written atomically, in the order of the names.
void write_safetensors(const std::filesystem::path& file, const NamedTensors& tensors);

}  // namespace hone::importer
