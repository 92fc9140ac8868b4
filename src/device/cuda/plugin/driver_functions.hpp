// Functions of the driver, which the plugin does not link, so that it loads where there is none.
#pragma once

#include <cuda_runtime_api.h>

#include "base/error.hpp"

namespace hone::device::cuda {

/// The function of that name, of type `F`; null where the driver has none, or there is no driver.
template <class F>
F find_driver_function(const char* name) {
  constexpr unsigned kVersion = 12000;
  void* address = nullptr;
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &address, kVersion, cudaEnableDefault, &result);
  if (status == cudaSuccess && result == cudaDriverEntryPointSuccess) return reinterpret_cast<F>(address);
  (void)cudaGetLastError();  // or a later call that is all right would be blamed
  return nullptr;
}

/// The same; environment error where there is none.
template <class F>
F driver_function(const char* name) {
  const auto function = find_driver_function<F>(name);
  if (function == nullptr) fail_environment("the NVIDIA driver has no {}", name);
  return function;
}

}  // namespace hone::device::cuda
