// numpy's array files: .npy contains one tensor, .npz a zip archive of named tensors.
//
// Files are untrusted: nothing is allocated before the header's shape was compared with the size of the data,
// object arrays (pickle) are refused, and an archive may unpack to at most 4 GiB.
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

/// The array of a .npy file (format versions 1 to 3, little-endian, row-major); bad input names the file.
Tensor read_npy(const std::filesystem::path& file);
/// Like read_npy(), from memory; messages do not name a file.
Tensor parse_npy(std::span<const std::byte> bytes);
/// The arrays of a .npz file (stored or deflated) in their order; bad input names file and member.
NamedTensors read_npz(const std::filesystem::path& file);
/// Returns only the names of its arrays, without unpacking them.
std::vector<std::string> npz_names(const std::filesystem::path& file);

/// The bytes of a .npy file. bfloat16, which numpy lacks, is written as
/// float32.
std::string format_npy(const Tensor& tensor);
/// Publishes the file only when it is complete; environment error if it cannot be written.
void write_npy(const std::filesystem::path& file, const Tensor& tensor);
/// Members are stored, not compressed; names must differ.
void write_npz(const std::filesystem::path& file, const NamedTensors& tensors);

}  // namespace hone::tensor
