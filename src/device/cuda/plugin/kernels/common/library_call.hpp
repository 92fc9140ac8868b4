// Calls a library after work that lets its successor start early.
#pragma once

#include <cuda_runtime.h>

#include <functional>

namespace hone::device::cuda {

/// Enqueues the work of `call` on the stream so that none of it starts before all earlier work has ended.
///
/// Libraries launch kernels programmatically, so these may start while the previous kernel is still ending.
/// If the previous kernel lets its successor start early, some of cuDNN's kernels (generated convolutions
/// with an added operand, 9.19) read data that it has not written yet. One such predecessor is the sum
/// after a split product of cuBLASLt. While the stream is being captured, the edges into the library's
/// first node are replaced by full dependencies; otherwise an empty kernel is launched ordinarily before
/// the call.
cudaError_t call_library(cudaStream_t stream, const std::function<void()>& call);

}  // namespace hone::device::cuda
