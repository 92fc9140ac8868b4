// See strided.hpp.
#include "reference/strided.hpp"

namespace hone::reference {

using tensor::Shape;
using tensor::Tensor;

namespace {

template <class Word>
void copy_words(const Shape& shape, const Tensor& from, const View& from_view, Tensor& to,
                const View& to_view) {
  const auto* in = reinterpret_cast<const Word*>(from.bytes());
  auto* out = reinterpret_cast<Word*>(to.mutable_bytes());
  walk<2>(shape, {from_view.strides, to_view.strides}, {from_view.offset, to_view.offset},
          [&](const auto& at) { out[at[1]] = in[at[0]]; });
}

}  // namespace

View whole(const Shape& shape) { return {0, tensor::row_major_strides(shape)}; }

void copy(const Shape& shape, const Tensor& from, const View& from_view, Tensor& to, const View& to_view) {
  switch (tensor::dtype_size(from.dtype())) {
    case 1: return copy_words<uint8_t>(shape, from, from_view, to, to_view);
    case 2: return copy_words<uint16_t>(shape, from, from_view, to, to_view);
    case 4: return copy_words<uint32_t>(shape, from, from_view, to, to_view);
    default: return copy_words<uint64_t>(shape, from, from_view, to, to_view);
  }
}

Tensor gathered(const Tensor& from, const View& view, Shape shape) {
  Tensor result(from.dtype(), std::move(shape));
  copy(result.shape(), from, view, result, whole(result.shape()));
  return result;
}

AxisSplit split_at(const Shape& shape, int64_t axis) {
  AxisSplit split;
  const auto at = static_cast<size_t>(axis);
  split.length = shape[at];
  split.outer = tensor::element_count(std::span(shape).first(at));
  split.inner = tensor::element_count(std::span(shape).subspan(at + 1));
  return split;
}

int64_t checked_index(int64_t index, int64_t length) {
  if (index < -length || index >= length)
    fail_bad_input("index {} is outside an axis of length {}", index, length);
  return index < 0 ? index + length : index;
}

std::vector<int64_t> distinct_axes(const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<int64_t> result;
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (const int64_t value : axes) {
    const int64_t axis = tensor::normalize_axis(value, rank);
    if (seen[static_cast<size_t>(axis)]) fail_bad_input("axis {} is named twice", value);
    seen[static_cast<size_t>(axis)] = true;
    result.push_back(axis);
  }
  return result;
}

}  // namespace hone::reference
