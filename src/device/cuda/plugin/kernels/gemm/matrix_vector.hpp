// Products of few rows with a constant matrix, as fully connected layers of small batches are: what takes
// time is reading the matrix, whose first part is on its way before the kernel ahead has ended.
#pragma once

#include <limits>
#include <string>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// y [rows][columns] = bounded(alpha * x [rows][depth] * w + bias), w as [columns][depth].
struct MatrixVector {
  static constexpr int64_t kMostRows = 8;
  int64_t rows = 1;
  int64_t columns = 0;
  int64_t depth = 0;
  float alpha = 1;
  /// Bounds of the result.
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

/// Why it cannot run so; empty when it can.
Refusal matrix_vector_refusal(const MatrixVector& size);

/// x and w of `type`, 16-byte aligned; y of `result`; `bias` float32 [columns] or null. w and bias are read
/// before the kernel ahead has ended, so that it must not write them. Sums are float32; NaN stays NaN.
cudaError_t matrix_vector(const void* x, const void* w, const float* bias, void* y, FloatType type,
                          FloatType result, const MatrixVector& size, const LaunchOptions& options);

}  // namespace hone::device::cuda
