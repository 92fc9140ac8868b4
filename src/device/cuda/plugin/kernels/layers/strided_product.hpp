// Matrix products with arbitrary strides of the operands, which may be broadcast or transposed. They serve
// products that no library supports.
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// Strides in elements; 0 along a broadcast axis.
struct StridedMatrix {
  static constexpr int kAxes = 6;
  int64_t row = 0;
  int64_t column = 0;
  int64_t batch[kAxes] = {};
};

/// y[b][m][n] = alpha * sum over k of x[b][m][k] * w[b][k][n] + beta * c[b][m][n]; y is dense.
struct StridedProduct {
  int64_t batch[StridedMatrix::kAxes] = {1, 1, 1, 1, 1, 1};
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t depth = 1;
  StridedMatrix x;
  StridedMatrix w;
  StridedMatrix c;
  float alpha = 1;
  float beta = 1;
};

/// All elements have `type`; sums are float32. `c` may be null.
cudaError_t strided_product(const void* x, const void* w, const void* c, void* y, FloatType type,
                            const StridedProduct& product, const LaunchOptions& options);

}  // namespace hone::device::cuda
