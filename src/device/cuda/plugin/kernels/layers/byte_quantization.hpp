// Quantizes numbers to bytes with one scale.
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// y = saturate(round(x / scale) + zero_point) for `count` elements, with ties to even and a float division.
/// NaN becomes the zero point. y has unsigned or signed bytes.
cudaError_t quantize_bytes(const void* x, FloatType type, void* y, bool unsigned_y, float scale,
                           int zero_point, int64_t count, const LaunchOptions& options);

}  // namespace hone::device::cuda
