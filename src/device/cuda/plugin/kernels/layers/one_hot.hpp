// Vectors with one value at an indexed place and another value elsewhere.
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// `indices` is [outer][inner] with 4 or 8 bytes each, from -depth to depth - 1; other indices select no
/// place. `values` holds the value elsewhere, then the value at the place. `output` is [outer][depth][inner].
/// Elements of both have `bytes` bytes.
cudaError_t one_hot(const void* indices, size_t index_bytes, const void* values, void* output, size_t bytes,
                    int64_t outer, int64_t depth, int64_t inner, const LaunchOptions& options);

}  // namespace hone::device::cuda
