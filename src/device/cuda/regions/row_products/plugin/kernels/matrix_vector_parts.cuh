// Operands and epilogue of the kernels of matrix_vector.hpp.
#pragma once

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/reduce.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_steps.cuh"
#include "device/cuda/regions/row_products/plugin/kernels/matrix_vector.hpp"

namespace hone::device::cuda::matrix_vector_parts {

constexpr int kWarps = 8;
/// Elements that a lane takes at once.
constexpr int kRun = 8;
/// Words of 16 bytes that a lane has in a stage.
constexpr int kStageWords = 4;
constexpr int kStageBytes = kWarps * 32 * kStageWords * 16;

struct Operands {
  MatrixVectorArgs args;
  int rows;
  int runs;  ///< of kRun elements, in the depth
  int columns[MatrixVector::kMostMatrices];
  int all_columns;
  float alpha;
  bool keeps_rows;  ///< in shared memory
  bool normalizes;
  bool centers;
  float epsilon;
  int rows_of_image;
  int paired_step;
  /// The step whose operand is fetched before the products, -1 for none.
  int fetched_step;
  bool next_waits;
  /// Warps that share a column, and runs of it that a lane has then; of the kernel for one row.
  int shares;
  int held;
};

template <class T>
__device__ __forceinline__ float step_operand(const Operands& p, const EpilogueStep& step, int row,
                                              int column) {
  int64_t at = column;
  if (step.shape == OperandShape::kFull) at += static_cast<int64_t>(row) * p.columns[0];
  if (step.shape == OperandShape::kPerImageChannel)
    at += static_cast<int64_t>(row / p.rows_of_image) * p.columns[0];
  return to_float(static_cast<const T*>(step.operand)[at]);
}

/// The operand of the fetched step; 0 where there is none.
template <class T>
__device__ __forceinline__ float fetched_operand(const Operands& p, int row, int column) {
  return p.fetched_step < 0 ? 0.0f : step_operand<T>(p, p.args.steps[p.fetched_step], row, column);
}

__device__ __forceinline__ float apply_binary(graph::PostOp op, float value, float operand) {
  if (op == graph::PostOp::kAdd) return value + operand;
  return op == graph::PostOp::kMul ? value * operand : value - operand;
}

/// A column among those of all matrices.
struct Column {
  int matrix = 0;
  int number;

  __device__ __forceinline__ Column(const Operands& p, int of_all) : number(of_all) {
#pragma unroll
    for (int m = 0; m + 1 < MatrixVector::kMostMatrices; ++m) {
      if (matrix != m || number < p.columns[m]) continue;
      number -= p.columns[m];
      matrix = m + 1;
    }
  }

  template <class T>
  __device__ __forceinline__ const uint4* of(const void* w, int runs) const {
    return static_cast<const uint4*>(w) + static_cast<int64_t>(number) * (runs * kRunWords<T>);
  }
};

/// Biases of a column.
struct Biases {
  float own = 0.0f;
  float pair = 0.0f;

  template <bool kPaired>
  __device__ __forceinline__ void load(const Operands& p, const Column& column) {
    own = of(p.args.matrices[column.matrix], column.number);
    if constexpr (kPaired) pair = of(p.args.pair, column.number);
  }

 private:
  static __device__ __forceinline__ float of(const MatrixVectorArgs::Matrix& matrix, int column) {
    return matrix.bias == nullptr ? 0.0f : __ldg(matrix.bias + column);
  }
};

/// Sums of even and of odd elements, so that an addition need not wait for the one before it.
struct Sums {
  float even = 0.0f;
  float odd = 0.0f;

  __device__ __forceinline__ void add(const float (&a)[kRun], const float (&b)[kRun]) {
#pragma unroll
    for (int k = 0; k < kRun; k += 2) {
      even = fmaf(a[k], b[k], even);
      odd = fmaf(a[k + 1], b[k + 1], odd);
    }
  }
  __device__ __forceinline__ float value() const { return even + odd; }
};

/// The parameters of a normalization for one run.
struct RunParameters {
  float scale[kRun];
  float shift[kRun];

  __device__ __forceinline__ void load(const MatrixVectorArgs& args, int run) {
#pragma unroll
    for (int k = 0; k < kRun; ++k) {
      scale[k] = 1.0f;
      shift[k] = 0.0f;
    }
    if (args.scale != nullptr) load_floats<kRun>(args.scale + run * kRun, scale);
    if (args.shift != nullptr) load_floats<kRun>(args.shift + run * kRun, shift);
  }

  __device__ __forceinline__ void normalize(float mean, float factor, float (&values)[kRun]) const {
#pragma unroll
    for (int k = 0; k < kRun; ++k) values[k] = fmaf((values[k] - mean) * factor, scale[k], shift[k]);
  }
};

/// Writes what the sums of a row and a column give.
template <class T, class Result, bool kPaired>
__device__ __forceinline__ void finish(const Operands& p, const Column& column, int row, float value,
                                       float pair, const Biases& biases, float fetched) {
  value = fmaf(p.alpha, value, biases.own);
  if constexpr (kPaired) {
    pair += biases.pair;
    for (int s = 0; s < p.args.pair_step_count; ++s) {
      const EpilogueStep& step = p.args.pair_steps[s];
      pair = apply_unary(step.op, step.alpha, step.beta, pair);
    }
  }
#pragma unroll 1
  for (int s = 0; s < p.args.step_count; ++s) {
    const EpilogueStep& step = p.args.steps[s];
    if (kPaired && s == p.paired_step) {
      value = apply_binary(step.op, value, pair);
    } else if (step.operand == nullptr) {
      value = apply_unary(step.op, step.alpha, step.beta, value);
    } else {
      value = apply_binary(step.op, value,
                           s == p.fetched_step ? fetched : step_operand<T>(p, step, row, column.number));
    }
  }
  static_cast<Result*>(p.args.matrices[column.matrix]
                           .y)[static_cast<int64_t>(row) * p.columns[column.matrix] + column.number] =
      from_float<Result>(value);
}

}  // namespace hone::device::cuda::matrix_vector_parts
