// Sorting and cumulative sums of floating-point tensors along the middle of [outer][axis][inner].
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// The k largest (or smallest) elements in order, and their indices: [outer][k][inner]. Equal elements keep
/// their order; NaN is larger than every number. Every element is compared with all others of its row.
cudaError_t top_k(const void* input, void* values, int64_t* indices, FloatType type, bool largest,
                  int64_t outer, int64_t axis, int64_t inner, int64_t k, const LaunchOptions& options);

/// Sums of all elements up to each one (if exclusive, before
/// it); from the end if `reverse`. Sums are in float.
cudaError_t cumulative_sum(const void* input, void* output, FloatType type, bool exclusive, bool reverse,
                           int64_t outer, int64_t axis, int64_t inner, const LaunchOptions& options);

}  // namespace hone::device::cuda
