// See copy_kernel.hpp.
#include "engine/program/copy_kernel.hpp"

namespace hone::engine {

const tensor::Quantization* find_quantization(std::span<const tensor::Quantization> quantizations,
                                              const TensorDesc& desc) {
  if (desc.quantization < 0) return nullptr;
  if (static_cast<size_t>(desc.quantization) >= quantizations.size())
    fail_internal("a tactic names {}, of {}", desc.text(), quantizations.size());
  return &quantizations[static_cast<size_t>(desc.quantization)];
}

std::shared_ptr<const Kernel> copy_kernel(const Device& device,
                                          std::span<const tensor::Quantization> quantizations,
                                          const TensorDesc& from, const TensorDesc& to,
                                          const std::string& name) {
  if (!needs_requantizing(from, to)) return device.make_reorder(from, to);
  auto kernel = device.make_requantization(from, to, find_quantization(quantizations, from),
                                           find_quantization(quantizations, to));
  if (kernel == nullptr) {
    fail_environment("the device {} has no kernel to make {} of '{}', which is {}", device.name(), to.text(),
                     name, from.text());
  }
  return kernel;
}

}  // namespace hone::engine
