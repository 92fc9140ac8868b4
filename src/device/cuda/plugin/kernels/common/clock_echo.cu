// See clock_echo.hpp.
#include "device/cuda/plugin/kernels/common/clock_echo.hpp"

#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"

namespace hone::device::cuda {
namespace {

__global__ void clock_echo(volatile ClockEcho* echo, uint32_t questions) {
  constexpr uint64_t kPatience = 100'000'000;
  for (uint32_t question = 1; question <= questions; ++question) {
    const uint64_t start = ptx::global_time();
    while (echo->asked != question) {
      if (ptx::global_time() - start > kPatience) return;
    }
    echo->time = ptx::global_time();
    __threadfence_system();
    echo->answered = question;
  }
}

__global__ void write_time(uint64_t* time) { *time = ptx::global_time(); }

__global__ void collect(const KernelStamp* stamps, int count, KernelStamp* host) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
    reinterpret_cast<ulonglong2*>(host)[i] = reinterpret_cast<const ulonglong2*>(stamps)[i];
}

}  // namespace

cudaError_t launch_clock_echo(ClockEcho* echo, uint32_t questions, cudaStream_t stream) {
  clock_echo<<<1, 1, 0, stream>>>(echo, questions);
  return cudaGetLastError();
}

cudaError_t launch_time(uint64_t* time, cudaStream_t stream) {
  write_time<<<1, 1, 0, stream>>>(time);
  return cudaGetLastError();
}

cudaError_t launch_collect(const KernelStamp* stamps, int count, KernelStamp* host, cudaStream_t stream) {
  constexpr int kBlock = 128;
  collect<<<1, kBlock, 0, stream>>>(stamps, count, host);
  return cudaGetLastError();
}

}  // namespace hone::device::cuda
