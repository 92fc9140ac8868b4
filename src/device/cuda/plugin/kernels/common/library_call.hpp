// Work of a library after work that lets its successor in early.
#pragma once

#include <cuda_runtime.h>

#include <functional>

namespace hone::device::cuda {

/// Enqueues what `call` hands to the stream, so that none of it starts before everything ahead has ended.
///
/// Libraries launch kernels programmatically: they may start while the one ahead of them ends. Some of
/// cuDNN's (generated convolutions with an added operand, 9.19) then read what the kernel ahead has
/// not written yet, when it is one that lets its successor in early, such as the sum behind a split product
/// of cuBLASLt's. While the stream captures, the edges into the library's first node become full ones;
/// otherwise an empty kernel that is launched ordinarily goes ahead.
cudaError_t call_library(cudaStream_t stream, const std::function<void()>& call);

}  // namespace hone::device::cuda
