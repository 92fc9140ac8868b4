// Group and instance normalization, followed by activations. Large groups are divided among many warps: one
// kernel computes their statistics and one normalizes. Statistics are in float.
#pragma once

#include "device/cuda/plugin/kernels/common/epilogue.hpp"

namespace hone::device::cuda {

/// A normalization over groups, each of which has all pixels of some adjacent channels of one image.
struct GroupNormalization {
  FloatType type = FloatType::kHalf;
  ImageOrder order = ImageOrder::kPlain;
  float epsilon = 0;
  int64_t batch = 1;
  int64_t channels = 1;
  int64_t groups = 1;  ///< a divisor of `channels`; if equal to it, this is instance normalization
  int64_t pixels = 1;
  Epilogue activations;  ///< applied to the result; without operands
};

/// Bytes of workspace that a launch needs; their content does not matter.
int64_t group_normalization_bytes(const GroupNormalization& norm);

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias. Scale and bias have one float for each channel,
/// or are null. `workspace` has group_normalization_bytes() bytes. The first kernel waits for the previous
/// kernel by itself.
cudaError_t group_normalization(const GroupNormalization& norm, const void* input, void* output,
                                const float* scale, const float* bias, void* workspace,
                                const LaunchOptions& options);

}  // namespace hone::device::cuda
