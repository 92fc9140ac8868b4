// Functions of the driver. The plugin is not linked with it, so that it can be loaded without a driver.
#pragma once

#include <cuda_runtime_api.h>

#include "base/error.hpp"

namespace hone::device::cuda {

/// Returns the function with this name and the type `F`; null if the driver lacks it, or if there is no
/// driver.
template <class F>
F find_driver_function(const char* name) {
  constexpr unsigned kVersion = 12000;
  void* address = nullptr;
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &address, kVersion, cudaEnableDefault, &result);
  if (status == cudaSuccess && result == cudaDriverEntryPointSuccess) return reinterpret_cast<F>(address);
  (void)cudaGetLastError();  // otherwise a later successful call would report this error
  return nullptr;
}

/// Like find_driver_function(); environment error if the function does not exist.
template <class F>
F driver_function(const char* name) {
  const auto function = find_driver_function<F>(name);
  if (function == nullptr) fail_environment("the NVIDIA driver has no {}", name);
  return function;
}

}  // namespace hone::device::cuda
