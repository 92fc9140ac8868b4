// Dimensions that several operands are walked by, merged where all of them lie so that one loop does.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/shape.hpp"

namespace hone::device::cpu {

/// Sizes of loops, the innermost last, and for each operand how far an index of each moves it, in elements.
struct StridedDims {
  tensor::Shape sizes;
  std::vector<tensor::Shape> strides;

  /// Drops loops of one turn, and makes one of neighbours that every operand walks at even steps. At least
  /// one loop stays.
  void merge();
  int64_t count() const { return tensor::element_count(sizes); }
  /// Turns of all loops but the innermost.
  int64_t rows() const;
  int64_t inner() const { return sizes.back(); }
  int64_t inner_stride(size_t operand) const { return strides[operand].back(); }
  /// Where row `row` of an operand begins, without a list of indices: files may ask for any rank.
  int64_t row_offset(size_t operand, int64_t row) const {
    int64_t offset = 0;
    for (size_t d = sizes.size() - 1; d-- > 0;) {
      offset += row % sizes[d] * strides[operand][d];
      row /= sizes[d];
    }
    return offset;
  }
};

}  // namespace hone::device::cpu
