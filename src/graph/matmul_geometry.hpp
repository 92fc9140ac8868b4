// Shapes of matrix products with numpy's matmul semantics: matrices in the last two axes, broadcast batch
// axes before them, vectors promoted to matrices for the product and back after it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/dim.hpp"

namespace hone::graph {

/// Output dimensions; throws bad input if the operands do not fit together or one is a scalar.
Dims matmul_dims(const Dims& a, const Dims& b);

/// A product whose sizes are known; both operands are seen as stacks of matrices.
struct MatMulGeometry {
  int64_t rows = 1;
  int64_t inner = 1;
  int64_t columns = 1;
  /// The shape of the output as in numpy, without the axes that were added to vectors.
  std::vector<int64_t> output;
  /// For each matrix in the stack of the output, the indices of the matrices of the operands; empty if the
  /// output is empty.
  std::vector<int64_t> a_matrix;
  std::vector<int64_t> b_matrix;
};

MatMulGeometry read_matmul(std::span<const int64_t> a, std::span<const int64_t> b);

}  // namespace hone::graph
