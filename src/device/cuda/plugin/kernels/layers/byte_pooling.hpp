// Pooling of bytes over windows of channels-last images.
#pragma once

#include "device/cuda/plugin/kernels/layers/pooling.hpp"

namespace hone::device::cuda {

/// The mean of a sum over `n` taps inside the image: y = clamp(round((sum - n * x_zero_point) * factor /
/// divisor), low, high) + y_zero_point. The divisor is the number of taps that the kind counts.
struct ByteAverage {
  bool unsigned_x = false;
  int x_zero_point = 0;
  float factor = 1;
  float low = -128;
  float high = 127;
  int y_zero_point = 0;
};

/// The largest byte of each window; the smallest possible byte if a window has no taps in the image.
cudaError_t byte_max_pool(const void* input, void* output, bool is_unsigned, const PoolSize& size,
                          const LaunchOptions& options);

/// The average of each window; `kind` is one of the averages.
cudaError_t byte_average_pool(const void* input, void* output, PoolKind kind, const ByteAverage& average,
                              const PoolSize& size, const LaunchOptions& options);

}  // namespace hone::device::cuda
