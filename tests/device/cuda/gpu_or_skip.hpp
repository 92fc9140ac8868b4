// Skips programs that need a GPU where there is none, and says why. Any other error is a failure.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>

namespace hone::device::cuda {

inline constexpr int kFailed = 1;
/// Exit status that ctest shows as skipped.
inline constexpr int kSkipped = 4;

/// 0 with a GPU, else the exit status, after a line that says why.
inline int status_without_gpu() {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0) {
    std::printf("SKIPPED: no NVIDIA driver is loaded\n");
    return kSkipped;
  }
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices > 0) return 0;
  const bool missing = error == cudaSuccess || error == cudaErrorNoDevice || error == cudaErrorStubLibrary ||
                       error == cudaErrorInsufficientDriver;
  std::printf("%s: %s\n", missing ? "SKIPPED" : "FAILED",
              error == cudaSuccess ? "no CUDA device" : cudaGetErrorString(error));
  return missing ? kSkipped : kFailed;
}

/// The exit status of a program that is this check: it returns where all is well.
inline int run_check(void (*check)()) {
  try {
    check();
    return 0;
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
  }
  return kFailed;
}

}  // namespace hone::device::cuda
