// Kernels that change the arrangement of a tensor: copies, layout and element type changes, transposes.
#pragma once

#include <memory>

#include "engine/kernel.hpp"

namespace hone::device::cpu {

/// Copies a tensor arranged as `from` into one arranged as `to`; shapes are equal.
std::shared_ptr<const engine::Kernel> make_reorder_kernel(const engine::TensorDesc& from,
                                                          const engine::TensorDesc& to);

/// The kernel, then every float32 output rounded to bfloat16 and widened again: bf16 on a CPU without it.
std::shared_ptr<const engine::Kernel> make_rounding_kernel(std::shared_ptr<const engine::Kernel> kernel,
                                                           std::vector<engine::TensorDesc> outputs);

}  // namespace hone::device::cpu
