// Reorders of the CPU between integers that stand for real numbers, and from and to floats.
#pragma once

#include <memory>

#include "engine/kernel.hpp"

namespace hone::device::cpu {

/// A kernel that copies input 0, arranged as `from`, to output 0, arranged as `to`: int8, uint8 or float32,
/// plain, of equal shapes. A null quantization stands for floats. Null for anything else.
std::shared_ptr<const engine::Kernel> make_requantization_kernel(const engine::TensorDesc& from,
                                                                 const engine::TensorDesc& to,
                                                                 const tensor::Quantization* of_from,
                                                                 const tensor::Quantization* of_to);

}  // namespace hone::device::cpu
