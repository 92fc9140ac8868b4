// The dimensions of a reduction as its loops take them.
#pragma once

#include <vector>

#include "engine/tensor_desc.hpp"

namespace hone::device::cpu {

/// Nested loops over one tensor, the innermost last.
struct Loops {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;

  void add(int64_t size, int64_t stride) {
    sizes.push_back(size);
    strides.push_back(stride);
  }
  int64_t count() const { return tensor::element_count(sizes); }
  int64_t inner() const { return sizes.empty() ? 1 : sizes.back(); }
  int64_t inner_stride() const { return strides.empty() ? 0 : strides.back(); }
  int64_t outer_count() const { return count() / inner(); }
  /// Where turn `i` of all loops lies, and turn `i` of all but the innermost.
  int64_t offset(int64_t i) const { return offset_from(i, sizes.size()); }
  int64_t outer_offset(int64_t i) const { return offset_from(i, sizes.empty() ? 0 : sizes.size() - 1); }

 private:
  int64_t offset_from(int64_t i, size_t end) const {
    int64_t result = 0;
    for (size_t d = end; d-- > 0;) {
      result += i % sizes[d] * strides[d];
      i /= sizes[d];
    }
    return result;
  }
};

/// A row-major tensor without empty dimensions. Its innermost dimensions are either `row` elements that are
/// reduced or `columns` that are kept; the other one is 1.
struct ReducedDims {
  Loops kept;
  Loops reduced;
  int64_t row = 1;
  int64_t columns = 1;

  ReducedDims(const engine::Shape& shape, const std::vector<bool>& is_reduced);
};

}  // namespace hone::device::cpu
