// See context.hpp.
#include "device/cuda/plugin/context.hpp"

#include <cuda.h>

#include "device/cuda/plugin/runtime.hpp"

namespace hone::device::cuda {
namespace {

/// Whether somebody else in this process has made the context; taken for granted where the driver does not
/// tell.
bool has_context() {
  constexpr unsigned kVersion = 7000;
  void* address = nullptr;
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t status = cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &address,
                                                              kVersion, cudaEnableDefault, &result);
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess) {
    (void)cudaGetLastError();
    return true;
  }
  unsigned flags = 0;
  int active = 1;
  const auto get_state = reinterpret_cast<decltype(&cuDevicePrimaryCtxGetState)>(address);
  return get_state(0, &flags, &active) != CUDA_SUCCESS || active != 0;
}

}  // namespace

void enter_context(bool own_process) {
  const bool ours = own_process && !has_context();
  // Waiting by polling: waking a sleeping thread costs more than many a batch.
  check(cudaSetDeviceFlags(cudaDeviceScheduleSpin), "creating a context on the GPU");
  check(cudaSetDevice(0), "creating a context on the GPU");
  // Where a kernel needs a stack, the driver makes room for it at its launch. A driver that refuses costs
  // memory alone.
  if (ours && cudaDeviceSetLimit(cudaLimitStackSize, 0) != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace hone::device::cuda
