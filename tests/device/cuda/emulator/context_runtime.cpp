// See context_runtime.hpp.
#include "device/cuda/emulator/context_runtime.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hone::device::cuda::emulator {
namespace {

CUresult device_of(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult state_of(CUdevice /*device*/, unsigned* flags, int* active) {
  *flags = 0;
  *active = context_runtime().active.value() ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult retain(CUcontext* context, CUdevice device) {
  *context = context_of(device);
  return CUDA_SUCCESS;
}

CUresult push(CUcontext context) {
  context_runtime().stack_of_contexts.push_back(context);
  context_runtime().pushed.push_back(context);
  return CUDA_SUCCESS;
}

CUresult pop(CUcontext* context) {
  auto& stack = context_runtime().stack_of_contexts;
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult current(CUcontext* context) {
  const auto& stack = context_runtime().stack_of_contexts;
  *context = stack.empty() ? nullptr : stack.back();
  return CUDA_SUCCESS;
}

}  // namespace

ContextRuntime& context_runtime() {
  static ContextRuntime runtime;
  return runtime;
}

CUcontext context_of(int ordinal) {
  return reinterpret_cast<CUcontext>(static_cast<uintptr_t>(16 * (ordinal + 1)));
}

void* context_function(std::string_view name) {
  if (name == "cuDeviceGet") return reinterpret_cast<void*>(&device_of);
  if (name == "cuDevicePrimaryCtxGetState" && context_runtime().active)
    return reinterpret_cast<void*>(&state_of);
  if (name == "cuDevicePrimaryCtxRetain") return reinterpret_cast<void*>(&retain);
  if (name == "cuCtxPushCurrent") return reinterpret_cast<void*>(&push);
  if (name == "cuCtxPopCurrent") return reinterpret_cast<void*>(&pop);
  if (name == "cuCtxGetCurrent") return reinterpret_cast<void*>(&current);
  return nullptr;
}

}  // namespace hone::device::cuda::emulator

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 2;
  return cudaSuccess;
}
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  hone::device::cuda::emulator::ContextRuntime& runtime = hone::device::cuda::emulator::context_runtime();
  runtime.polls = flags == cudaInitDeviceFlagsAreValid && device_flags == cudaDeviceScheduleSpin;
  runtime.active = true;
  runtime.entered = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  if (limit != cudaLimitStackSize || !hone::device::cuda::emulator::context_runtime().has_limits)
    return cudaErrorUnsupportedLimit;
  hone::device::cuda::emulator::context_runtime().stack = value;
  return cudaSuccess;
}

}  // extern "C"
