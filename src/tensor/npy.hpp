// numpy's array files: .npy holds one tensor, .npz a zip of named ones.
//
// Files are untrusted: nothing is allocated before the header's shape has been
// compared with the bytes that are there, object arrays (pickle) are refused,
// and an archive may unpack to 4 GiB at most.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor.hpp"

namespace hone::tensor {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// The array of a .npy file (format versions 1 to 3, little-endian, row-major);
/// bad input naming the file.
Tensor read_npy(const std::filesystem::path& file);
/// The same from memory; messages name no file.
Tensor parse_npy(std::span<const std::byte> bytes);
/// The arrays of a .npz file (stored or deflated) in their order; bad input
/// naming file and member.
NamedTensors read_npz(const std::filesystem::path& file);
/// Only the names of its arrays, which are not unpacked.
std::vector<std::string> npz_names(const std::filesystem::path& file);

/// The bytes of a .npy file. bfloat16, which numpy lacks, is written as
/// float32.
std::string format_npy(const Tensor& tensor);
/// Written whole or not at all; environment error when the place cannot be
/// written.
void write_npy(const std::filesystem::path& file, const Tensor& tensor);
/// Members are stored, not compressed; names must differ.
void write_npz(const std::filesystem::path& file, const NamedTensors& tensors);

}  // namespace hone::tensor
