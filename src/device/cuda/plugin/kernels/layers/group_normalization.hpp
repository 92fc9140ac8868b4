// Group and instance normalization with activations after it. Large groups are for many warps each: a kernel
// for their statistics and one that normalizes. Statistics are in float.
#pragma once

#include "device/cuda/plugin/kernels/common/epilogue.hpp"

namespace hone::device::cuda {

/// A group that is normalized together: the pixels and channels of each group of an image.
struct GroupNormalization {
  FloatType type = FloatType::kHalf;
  ImageOrder order = ImageOrder::kPlain;
  float epsilon = 0;
  int64_t batch = 1;
  int64_t channels = 1;
  int64_t groups = 1;  ///< a divisor of the channels; equal to the channels: instance normalization
  int64_t pixels = 1;
  Epilogue activations;  ///< of the result, without operands
};

/// Bytes of any content that a launch needs besides its operands.
int64_t group_normalization_bytes(const GroupNormalization& norm);

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias; scale and bias have one float per channel, or
/// are null. `workspace` has group_normalization_bytes(). The first kernel waits for the kernel ahead itself.
cudaError_t group_normalization(const GroupNormalization& norm, const void* input, void* output,
                                const float* scale, const float* bias, void* workspace,
                                const LaunchOptions& options);

}  // namespace hone::device::cuda
