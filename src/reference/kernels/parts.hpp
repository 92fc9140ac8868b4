// Joins the parts of a kernel family, one file each, to the list of the family.
#pragma once

#include <initializer_list>
#include <vector>

#include "reference/kernel_list.hpp"

namespace hone::reference {

inline std::vector<KernelEntry> join_parts(std::initializer_list<std::span<const KernelEntry>> parts) {
  std::vector<KernelEntry> all;
  for (const auto part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// Parts of the elementwise family.
std::span<const KernelEntry> unary_kernels();
std::span<const KernelEntry> activation_kernels();
std::span<const KernelEntry> arithmetic_kernels();
std::span<const KernelEntry> comparison_kernels();

// Parts of the shape family.
std::span<const KernelEntry> layout_kernels();
std::span<const KernelEntry> region_kernels();
std::span<const KernelEntry> gather_kernels();
std::span<const KernelEntry> scatter_kernels();
std::span<const KernelEntry> selection_kernels();
std::span<const KernelEntry> generator_kernels();

// Parts of the reduction family.
std::span<const KernelEntry> softmax_kernels();
std::span<const KernelEntry> ranking_kernels();

// Parts of the normalization family.
std::span<const KernelEntry> local_normalization_kernels();

// Parts of the matrix family.
std::span<const KernelEntry> einsum_kernels();

}  // namespace hone::reference
