// Walks over tensors through strides, for broadcasting, permuting, slicing and padding.
#pragma once

#include <array>
#include <vector>

#include "tensor/tensor.hpp"

namespace hone::reference {

/// Visits the elements of `shape` in row-major order; f gets the offset of each element in N views.
template <size_t N, class F>
void walk(const tensor::Shape& shape, const std::array<tensor::Shape, N>& strides,
          std::array<int64_t, N> offsets, F&& f) {
  if (tensor::element_count(shape) == 0) return;
  tensor::Shape index(shape.size(), 0);
  while (true) {
    f(offsets);
    size_t axis = shape.size();
    for (; axis > 0; --axis) {
      const size_t d = axis - 1;
      if (++index[d] < shape[d]) {
        for (size_t n = 0; n < N; ++n) offsets[n] += strides[n][d];
        break;
      }
      for (size_t n = 0; n < N; ++n) offsets[n] -= strides[n][d] * (shape[d] - 1);
      index[d] = 0;
    }
    if (axis == 0) return;
  }
}

/// Part of a tensor: the offset of its first element, and the stride along each axis.
struct View {
  int64_t offset = 0;
  tensor::Shape strides;
};

/// The view of a whole tensor of this shape.
View whole(const tensor::Shape& shape);

/// Copies elements of `shape` from one view to the other. Both tensors have the same element type, and the
/// views are inside them.
void copy(const tensor::Shape& shape, const tensor::Tensor& from, const View& from_view, tensor::Tensor& to,
          const View& to_view);

/// A tensor of `shape` filled with the elements of a view of `from`.
tensor::Tensor gathered(const tensor::Tensor& from, const View& view, tensor::Shape shape);

/// A shape split at one axis: `outer` blocks of `length` rows of `inner` elements.
struct AxisSplit {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
};
AxisSplit split_at(const tensor::Shape& shape, int64_t axis);

/// The position `index` on an axis; if negative, it counts from the end. Bad input if it is outside.
int64_t checked_index(int64_t index, int64_t length);

/// Axes in [0, rank); bad input if one is repeated.
std::vector<int64_t> distinct_axes(const std::vector<int64_t>& axes, int64_t rank);

}  // namespace hone::reference
