// Rotary positions (Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021), halves
// of rows as pairs.
#pragma once

#include <cstdint>

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// x is [dims[0]][dims[1]][dims[2]][depth], plain. Row (i, j, k) of a table begins at element
/// i * stride[0] + j * stride[1] + k * stride[2]; 0 where one row serves all.
struct RotarySize {
  FloatType type = FloatType::kFloat;
  int64_t dims[3] = {1, 1, 1};
  int depth = 0;  ///< even
  int64_t cosine_strides[3] = {};
  int64_t sine_strides[3] = {};

  int64_t rows() const { return dims[0] * dims[1] * dims[2]; }
};

/// y = x * cos + turned(x) * sin, where the turned row is its second half, negated, and then its first one.
/// Sums are in float; y must not be x.
cudaError_t rotate(const RotarySize& size, const void* x, const void* cosines, const void* sines, void* y,
                   const LaunchOptions& options);

}  // namespace hone::device::cuda
