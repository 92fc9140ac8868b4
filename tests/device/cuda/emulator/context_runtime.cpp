// See context_runtime.hpp.
#include "device/cuda/emulator/context_runtime.hpp"

#include <cuda_runtime_api.h>

namespace hone::device::cuda::emulator {

ContextRuntime& context_runtime() {
  static ContextRuntime runtime;
  return runtime;
}

CUresult primary_context_state(CUdevice /*device*/, unsigned* flags, int* active) {
  *flags = 0;
  *active = context_runtime().active.value() ? 1 : 0;
  return CUDA_SUCCESS;
}

}  // namespace hone::device::cuda::emulator

extern "C" {

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  hone::device::cuda::emulator::context_runtime().polls = flags == cudaDeviceScheduleSpin;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int /*device*/) {
  hone::device::cuda::emulator::context_runtime().active = true;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  if (limit != cudaLimitStackSize || !hone::device::cuda::emulator::context_runtime().has_limits)
    return cudaErrorUnsupportedLimit;
  hone::device::cuda::emulator::context_runtime().stack = value;
  return cudaSuccess;
}

}  // extern "C"
