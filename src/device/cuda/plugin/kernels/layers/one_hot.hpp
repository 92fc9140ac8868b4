// Vectors that have one value at the place that an index names and another one elsewhere.
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// `indices` is [outer][inner], of 4 or 8 bytes each, -depth to depth - 1; others name no place. `values`
/// holds the one elsewhere and the one at the place, `output` is [outer][depth][inner]; both of `bytes` an
/// element.
cudaError_t one_hot(const void* indices, size_t index_bytes, const void* values, void* output, size_t bytes,
                    int64_t outer, int64_t depth, int64_t inner, const LaunchOptions& options);

}  // namespace hone::device::cuda
