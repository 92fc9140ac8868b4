// Reference kernels that select, mark or reorder elements by a condition. Unique is in unique.cpp.
#include <cstring>

#include "reference/compute.hpp"
#include "reference/kernels/parts.hpp"
#include "reference/kernels/unique.hpp"
#include "reference/strided.hpp"

namespace hone::reference {
namespace {

void compress(KernelContext& context) {
  const bool flat = !context.attributes().has("axis");
  const Tensor x = flat ? context.input(0).reshaped({context.input(0).size()}) : context.input(0);
  const int64_t axis = flat ? 0 : tensor::normalize_axis(context.attributes().get_int("axis"), x.rank());
  const AxisSplit split = split_at(x.shape(), axis);
  const auto condition = context.input(1).to_int64();
  if (static_cast<int64_t>(condition.size()) > split.length) {
    fail_bad_input("a condition of {} elements for an axis of length {}", condition.size(), split.length);
  }
  std::vector<size_t> selected;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) selected.push_back(i);
  }
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = static_cast<int64_t>(selected.size());
  Tensor& y = context.make_output(0, x.dtype(), std::move(shape));
  const size_t row = static_cast<size_t>(split.inner) * tensor::dtype_size(x.dtype());
  std::byte* out = y.mutable_bytes();
  for (int64_t outer = 0; outer < split.outer && row > 0; ++outer) {
    for (const size_t position : selected) {
      std::memcpy(out, x.bytes() + (static_cast<size_t>(outer * split.length) + position) * row, row);
      out += row;
    }
  }
}

void non_zero(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor is_set = x.cast(DType::kBool);
  std::vector<int64_t> found;
  for (int64_t i = 0; i < x.size(); ++i) {
    if (is_set.values<bool>()[static_cast<size_t>(i)]) found.push_back(i);
  }
  const Shape strides = tensor::row_major_strides(x.shape());
  Tensor& y = context.make_output(0, DType::kInt64, {x.rank(), static_cast<int64_t>(found.size())});
  int64_t* out = y.mutable_values<int64_t>().data();
  for (size_t d = 0; d < strides.size(); ++d) {
    for (const int64_t i : found) *out++ = i / strides[d] % x.shape()[d];
  }
}

void one_hot(KernelContext& context) {
  const Tensor indices = context.input(0).cast(DType::kInt64);
  const Tensor& values = context.input(2);
  if (context.input(1).size() != 1)
    fail_bad_input("input 'depth' has {} elements, expected one", context.input(1).size());
  if (values.size() != 2) fail_bad_input("input 'values' has {} elements, expected two", values.size());
  const int64_t depth = context.input(1).cast(DType::kInt64).values<int64_t>()[0];
  const int64_t axis = tensor::normalize_axis(context.attributes().get_int("axis"), indices.rank() + 1);
  Shape shape = indices.shape();
  shape.insert(shape.begin() + axis, depth);
  Tensor& y = context.make_output(0, values.dtype(), std::move(shape));
  const AxisSplit split = split_at(y.shape(), axis);
  const size_t size = tensor::dtype_size(values.dtype());
  std::byte* out = y.mutable_bytes();
  for (int64_t outer = 0; outer < split.outer; ++outer) {
    for (int64_t at = 0; at < depth; ++at) {
      for (int64_t inner = 0; inner < split.inner; ++inner, out += size) {
        const int64_t index = indices.values<int64_t>()[static_cast<size_t>(outer * split.inner + inner)];
        // Negative indices count from the end; those outside the depth select nothing.
        const bool on = index == at || index == at - depth;
        std::memcpy(out, values.bytes() + (on ? size : 0), size);
      }
    }
  }
}

void reverse_sequence(KernelContext& context) {
  const Tensor& x = context.input(0);
  const auto batch_axis = static_cast<size_t>(context.attributes().get_int("batch_axis"));
  const auto time_axis = static_cast<size_t>(context.attributes().get_int("time_axis"));
  if (x.rank() < 2 || batch_axis > 1 || time_axis != 1 - batch_axis) {
    fail_bad_input("axes {} and {} of an input of rank {}", batch_axis, time_axis, x.rank());
  }
  const auto lengths = context.input(1).to_int64();
  if (static_cast<int64_t>(lengths.size()) != x.shape()[batch_axis]) {
    fail_bad_input("{} sequence lengths for a batch of {}", lengths.size(), x.shape()[batch_axis]);
  }
  Tensor& y = context.make_output(0, x.dtype(), x.shape());
  const Shape strides = tensor::row_major_strides(x.shape());
  const int64_t steps = x.shape()[time_axis];
  Shape rest = x.shape();
  rest[batch_axis] = 1;
  for (size_t b = 0; b < lengths.size(); ++b) {
    if (lengths[b] < 0 || lengths[b] > steps)
      fail_bad_input("sequence length {} of {} steps", lengths[b], steps);
    const int64_t base = static_cast<int64_t>(b) * strides[batch_axis];
    View from{base + (lengths[b] - 1) * strides[time_axis], strides};
    View to{base, strides};
    from.strides[time_axis] = -strides[time_axis];
    rest[time_axis] = lengths[b];
    copy(rest, x, from, y, to);
    rest[time_axis] = steps - lengths[b];
    to.offset = base + lengths[b] * strides[time_axis];
    copy(rest, x, to, y, to);
  }
}

constexpr KernelEntry kKernels[] = {
    {"Compress", compress}, {"NonZero", non_zero}, {"OneHot", one_hot}, {"ReverseSequence", reverse_sequence},
    {"Unique", unique},
};

}  // namespace

std::span<const KernelEntry> selection_kernels() { return kKernels; }

}  // namespace hone::reference
