// Pooling over windows and over whole images.
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// A pool over up to three spatial axes; absent axes (the first ones) have size 1. The output's sizes and the
/// padding already include ceil_mode.
struct PoolSize {
  int64_t batch = 1;
  int64_t channels = 1;
  int64_t input[3] = {1, 1, 1};
  int64_t output[3] = {1, 1, 1};
  int64_t kernel[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1};
  int64_t dilation[3] = {1, 1, 1};
  int64_t pad_begin[3] = {0, 0, 0};
  int64_t pad_end[3] = {0, 0, 0};
};

/// kAverage divides by the taps inside the input, kAveragePadded by those inside input and padding.
enum class PoolKind : uint8_t { kMax, kAverage, kAveragePadded };

/// Input and output have the same type and order. A window without taps gives -infinity or 0. NaN propagates.
cudaError_t pool(const void* input, void* output, FloatType type, ImageOrder order, PoolKind kind,
                 const PoolSize& size, const LaunchOptions& options);

/// Mean (or maximum) over the `pixels` of each channel. The output is [batch][channels] of `output_type`.
cudaError_t global_pool(const void* input, FloatType type, ImageOrder order, void* output,
                        FloatType output_type, bool maximum, int64_t batch, int64_t channels, int64_t pixels,
                        const LaunchOptions& options);

}  // namespace hone::device::cuda
