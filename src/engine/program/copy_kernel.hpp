// Kernels of the copies that the engine inserts between steps.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "engine/kernel.hpp"

namespace hone::engine {

/// What TensorDesc::quantization stands for, null for none.
const tensor::Quantization* find_quantization(std::span<const tensor::Quantization> quantizations,
                                              const TensorDesc& desc);

/// A reorder, which requantizes where the scales differ; `name` is that of the value. Environment error where
/// the device has none.
std::shared_ptr<const Kernel> copy_kernel(const Device& device,
                                          std::span<const tensor::Quantization> quantizations,
                                          const TensorDesc& from, const TensorDesc& to,
                                          const std::string& name);

}  // namespace hone::engine
