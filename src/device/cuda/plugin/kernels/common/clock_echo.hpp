// Kernels that report the GPU's global timer to the host.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "device/cuda/plugin/kernels/common/kernel_stamp.hpp"

namespace hone::device::cuda {

/// Lies in pinned memory: the host asks for the time and the kernel answers.
struct ClockEcho {
  uint32_t asked;     ///< incremented for each question
  uint32_t answered;  ///< number of the question that `time` answers
  uint64_t time;
};

/// Answers this number of questions; the kernel ends early if a question takes longer than 0.1 s to come.
cudaError_t launch_clock_echo(ClockEcho* echo, uint32_t questions, cudaStream_t stream);

/// Writes the time when all earlier work of the stream has ended.
cudaError_t launch_time(uint64_t* time, cudaStream_t stream);

/// Copies stamps to pinned memory.
cudaError_t launch_collect(const KernelStamp* stamps, int count, KernelStamp* host, cudaStream_t stream);

}  // namespace hone::device::cuda
