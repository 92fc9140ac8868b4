// The GPU's global timer, told to the host.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "device/cuda/plugin/kernels/common/kernel_stamp.hpp"

namespace hone::device::cuda {

/// In pinned memory: the host asks for the time, the kernel answers.
struct ClockEcho {
  uint32_t asked;     ///< one more for each question
  uint32_t answered;  ///< the last question that `time` answers
  uint64_t time;
};

/// Answers that many questions, each within 0.1 s, or ends.
cudaError_t launch_clock_echo(ClockEcho* echo, uint32_t questions, cudaStream_t stream);

/// Writes the time when everything handed to the stream before it has ended.
cudaError_t launch_time(uint64_t* time, cudaStream_t stream);

/// Copies stamps to pinned memory.
cudaError_t launch_collect(const KernelStamp* stamps, int count, KernelStamp* host, cudaStream_t stream);

}  // namespace hone::device::cuda
