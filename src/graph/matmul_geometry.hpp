// Shapes of matrix products with numpy's matmul semantics: matrices in the last two axes, broadcast batch
// axes before them, vectors promoted to matrices for the product and back after it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/dim.hpp"

namespace hone::graph {

/// Output dimensions; bad input when the operands do not fit together or one is a scalar.
Dims matmul_dims(const Dims& a, const Dims& b);

/// A product with everything known, both operands seen as stacks of matrices.
struct MatMulGeometry {
  int64_t rows = 1;
  int64_t inner = 1;
  int64_t columns = 1;
  /// The output's shape as numpy has it, without the axes that vectors were promoted by.
  std::vector<int64_t> output;
  /// For each matrix of the output's stack, the index of its operands' matrices; empty when the output is.
  std::vector<int64_t> a_matrix;
  std::vector<int64_t> b_matrix;
};

MatMulGeometry read_matmul(std::span<const int64_t> a, std::span<const int64_t> b);

}  // namespace hone::graph
