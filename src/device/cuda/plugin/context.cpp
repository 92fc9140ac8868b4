// See context.hpp.
#include "device/cuda/plugin/context.hpp"

#include "device/cuda/plugin/device_guard.hpp"
#include "device/cuda/plugin/driver_functions.hpp"
#include "device/cuda/plugin/runtime.hpp"

namespace hone::device::cuda {
namespace {

CUdevice device_of(int ordinal) {
  CUdevice device = 0;
  if (driver_function<decltype(&cuDeviceGet)>("cuDeviceGet")(&device, ordinal) != CUDA_SUCCESS)
    fail_environment("the NVIDIA driver gives no access to GPU {}", ordinal);
  return device;
}

/// True if other code in this process has made the context; assumed if the driver does not report it.
bool has_context(CUdevice device) {
  const auto get_state =
      find_driver_function<decltype(&cuDevicePrimaryCtxGetState)>("cuDevicePrimaryCtxGetState");
  unsigned flags = 0;
  int active = 1;
  return get_state == nullptr || get_state(device, &flags, &active) != CUDA_SUCCESS || active != 0;
}

CUcontext primary_context(CUdevice device) {
  CUcontext context = nullptr;
  const auto retain = driver_function<decltype(&cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain");
  if (retain(&context, device) != CUDA_SUCCESS)
    fail_environment("creating a context on GPU {} failed", static_cast<int>(device));
  return context;
}

}  // namespace

CUcontext enter_context(int ordinal, bool own_process) {
  constexpr const char* kWhat = "creating a context on the GPU";
  int count = 0;
  check(cudaGetDeviceCount(&count), kWhat);  // initializes the driver before it is used
  const CUdevice device = device_of(ordinal);
  const bool ours = own_process && !has_context(device);
  // Wait by polling, because waking a sleeping thread takes longer than many batches.
  check(cudaInitDevice(ordinal, cudaDeviceScheduleSpin, cudaInitDeviceFlagsAreValid), kWhat);
  CUcontext context = primary_context(device);
  // If a kernel needs a stack, the driver allocates it at launch. If the driver refuses this setting, only
  // memory is wasted.
  const DeviceGuard guard(context);
  if (ours && cudaDeviceSetLimit(cudaLimitStackSize, 0) != cudaSuccess) (void)cudaGetLastError();
  return context;
}

}  // namespace hone::device::cuda
