// Products of few rows with constant matrices, as fully connected layers of small batches and the layers of a
// decoder's token are: what takes time is reading the matrices, whose first parts are on their way before the
// kernel ahead has ended. Rows may be normalized on the way in, and the result may be a product of the
// results of two matrices, as gated layers have it (Shazeer, "GLU Variants Improve Transformer", 2020).
#pragma once

#include <array>
#include <string>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/conv_problem.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// y [rows][columns] = steps(alpha * x [rows][depth] * w + bias), w as [columns][depth].
struct MatrixVector {
  static constexpr int64_t kMostRows = 8;
  /// Matrices that rows are multiplied with side by side, each with a result of its own.
  static constexpr int kMostMatrices = 4;
  /// Steps between the product with the matrix of a pair and the product of both.
  static constexpr int kMostPairSteps = 2;

  int64_t rows = 1;
  int64_t depth = 0;
  /// Columns of each matrix; 0 where there is none.
  std::array<int64_t, kMostMatrices> columns = {};
  float alpha = 1;
  /// True if rows are (x - mean) / sqrt(variance + epsilon) * scale + shift first, rounded to their type;
  /// those that are not centered count the mean as 0.
  bool normalizes = false;
  bool centers = false;
  float epsilon = 0;
  /// Rows of an image, for operands that are one row for each image.
  int64_t rows_of_image = 1;
  /// The step whose operand is the product with another matrix; -1 where there is none. Only of one matrix.
  int paired_step = -1;

  int64_t all_columns() const;
};

/// Device pointers. Elements of x, w and operands of steps have the type of the launch, and their rows begin
/// at multiples of 16 bytes; biases, scale and shift are floats or null.
struct MatrixVectorArgs {
  struct Matrix {
    const void* w = nullptr;
    const float* bias = nullptr;
    void* y = nullptr;
  };
  const void* x = nullptr;
  Matrix matrices[MatrixVector::kMostMatrices];
  /// The matrix whose product is the operand of the paired step; without y. Its own steps have no operands.
  Matrix pair;
  EpilogueStep pair_steps[MatrixVector::kMostPairSteps];
  int pair_step_count = 0;
  const float* scale = nullptr;
  const float* shift = nullptr;
  /// Behind the sum of the first matrix, where it is the only one.
  EpilogueStep steps[kMaxEpilogueSteps];
  int step_count = 0;
};

/// Why it cannot run so; empty when it can.
Refusal matrix_vector_refusal(const MatrixVector& size, FloatType type);

/// x and w of `type`, y of `result`. Matrices, biases, scale and shift are read before the kernel ahead has
/// ended, so that it must not write them. Sums are float32; NaN stays NaN.
cudaError_t matrix_vector(const MatrixVectorArgs& args, FloatType type, FloatType result,
                          const MatrixVector& size, const LaunchOptions& options);

}  // namespace hone::device::cuda
