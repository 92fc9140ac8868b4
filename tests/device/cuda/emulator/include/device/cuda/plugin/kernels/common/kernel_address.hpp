// Emulated: kernels become known by their addresses, so that they can be launched by them.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

namespace hone::device::cuda {
namespace emulator {

/// Runs a kernel by one thread, with the arguments that these point to.
using Kernel = std::function<void(void* const* arguments)>;
void add_kernel(const void* address, Kernel kernel);

}  // namespace emulator

template <class... Parameters, size_t... kIndex>
emulator::Kernel emulated_kernel(void (*kernel)(Parameters...), std::index_sequence<kIndex...>) {
  return [kernel](void* const* arguments) {
    kernel(*static_cast<const std::decay_t<Parameters>*>(arguments[kIndex])...);
  };
}

template <class... Parameters>
const void* kernel_address(void (*kernel)(Parameters...)) {
  const auto* const address = reinterpret_cast<const void*>(kernel);
  emulator::add_kernel(address, emulated_kernel(kernel, std::index_sequence_for<Parameters...>()));
  return address;
}

}  // namespace hone::device::cuda
