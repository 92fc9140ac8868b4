// A tensor as the elements before, along and after one of its axes.
#pragma once

#include "tensor/shape.hpp"

namespace hone::device::cpu {

/// The plain tensor is [outer][length][inner].
struct AroundAxis {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;

  /// `axis` is in [0, rank).
  AroundAxis(const tensor::Shape& shape, int64_t axis) : length(shape[static_cast<size_t>(axis)]) {
    for (int64_t d = 0; d < axis; ++d) outer *= shape[static_cast<size_t>(d)];
    for (size_t d = static_cast<size_t>(axis) + 1; d < shape.size(); ++d) inner *= shape[d];
  }

  /// Lines along the axis.
  int64_t lines() const { return outer * inner; }
  /// The offset of a line's first element; its elements lie `inner` apart.
  int64_t first_of(int64_t line) const { return line / inner * length * inner + line % inner; }
};

}  // namespace hone::device::cpu
