// Operations of floating-point tensors that order or add up along the middle of [outer][axis][inner].
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// The k largest (or smallest) elements, in order, and where they are: [outer][k][inner]. Among equal ones
/// the first comes first; NaN is larger than every number. Every element is compared with all of its row.
cudaError_t top_k(const void* input, void* values, int64_t* indices, FloatType type, bool largest,
                  int64_t outer, int64_t axis, int64_t inner, int64_t k, const LaunchOptions& options);

/// Sums of all elements up to each (exclusive: before it), from the end when `reverse`. Sums are in float.
cudaError_t cumulative_sum(const void* input, void* output, FloatType type, bool exclusive, bool reverse,
                           int64_t outer, int64_t axis, int64_t inner, const LaunchOptions& options);

}  // namespace hone::device::cuda
