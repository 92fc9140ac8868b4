// Reference kernels of the reduction family that order or accumulate along one axis.
#include <algorithm>
#include <numeric>

#include "reference/compute.hpp"
#include "reference/kernels/parts.hpp"
#include "reference/strided.hpp"

namespace hone::reference {
namespace {

/// Calls f with the offset of the first element of every row along the axis; the stride is split.inner.
template <class F>
void for_each_row(const AxisSplit& split, F&& f) {
  for (int64_t outer = 0; outer < split.outer; ++outer) {
    for (int64_t inner = 0; inner < split.inner; ++inner)
      f(outer, inner, outer * split.length * split.inner + inner);
  }
}

/// Position of the extreme element of every row. NaN counts as extreme, as in numpy.
template <bool largest>
void arg_extreme(KernelContext& context) {
  const Tensor& input = context.input(0);
  const int64_t axis = tensor::normalize_axis(context.attributes().get_int("axis"), input.rank());
  const bool last = context.attributes().get_int("select_last_index") != 0;
  const AxisSplit split = split_at(input.shape(), axis);
  Shape shape = input.shape();
  shape[static_cast<size_t>(axis)] = 1;
  if (context.attributes().get_int("keepdims") == 0) shape.erase(shape.begin() + axis);
  Tensor& y = context.make_output(0, DType::kInt64, std::move(shape));
  if (y.size() > 0 && split.length == 0) fail_bad_input("an empty axis has no extreme element");
  visit_compute(input.dtype(), [&]<class T>() {
    const Tensor x = widened(input);
    const auto better = [&](T a, T b) {
      if (b != b) return last && a != a;
      return a != a || (largest ? a > b : a < b) || (last && a == b);
    };
    for_each_row(split, [&](int64_t outer, int64_t inner, int64_t first) {
      const T* row = x.values<T>().data() + first;
      int64_t best = 0;
      for (int64_t i = 1; i < split.length; ++i)
        best = better(row[i * split.inner], row[best * split.inner]) ? i : best;
      y.mutable_values<int64_t>()[static_cast<size_t>(outer * split.inner + inner)] = best;
    });
  });
}

void cumsum(KernelContext& context) {
  const Tensor& input = context.input(0);
  const auto axis_value = context.input(1).to_int64();
  if (axis_value.size() != 1) fail_bad_input("input 'axis' has {} elements, expected one", axis_value.size());
  const AxisSplit split = split_at(input.shape(), tensor::normalize_axis(axis_value[0], input.rank()));
  const bool exclusive = context.attributes().get_int("exclusive") != 0;
  const bool reverse = context.attributes().get_int("reverse") != 0;
  visit_compute(input.dtype(), [&]<class T>() {
    const Tensor x = widened(input);
    Tensor y(x.dtype(), x.shape());
    for_each_row(split, [&](int64_t, int64_t, int64_t first) {
      T sum{};
      for (int64_t i = 0; i < split.length; ++i) {
        const auto at = static_cast<size_t>(first + (reverse ? split.length - 1 - i : i) * split.inner);
        const T before = sum;
        sum = add(sum, x.values<T>()[at]);
        y.mutable_values<T>()[at] = exclusive ? before : sum;
      }
    });
    context.outputs[0] = y.cast(input.dtype());
  });
}

/// The first k elements of every row in order; equal elements are ordered by index.
void top_k(KernelContext& context) {
  const Tensor& input = context.input(0);
  const int64_t axis = tensor::normalize_axis(context.attributes().get_int("axis"), input.rank());
  const auto wanted = context.input(1).to_int64();
  const AxisSplit split = split_at(input.shape(), axis);
  if (wanted.size() != 1 || wanted[0] < 0 || wanted[0] > split.length) {
    fail_bad_input("input 'k' is no number between 0 and {}", split.length);
  }
  const int64_t k = wanted[0];
  const bool largest = context.attributes().get_int("largest") != 0;
  Shape shape = input.shape();
  shape[static_cast<size_t>(axis)] = k;
  Tensor& indices = context.make_output(1, DType::kInt64, shape);
  visit_compute(input.dtype(), [&]<class T>() {
    const Tensor x = widened(input);
    Tensor values(x.dtype(), shape);
    std::vector<int64_t> order(static_cast<size_t>(split.length));
    for_each_row(split, [&](int64_t outer, int64_t inner, int64_t first) {
      const T* row = x.values<T>().data() + first;
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t i, int64_t j) {
        const T a = row[i * split.inner];
        const T b = row[j * split.inner];
        // NaN is larger than every number, so that the order is total.
        const bool less = a < b || (a == a && b != b);
        const bool greater = b < a || (b == b && a != a);
        if (less != greater) return largest ? greater : less;
        return i < j;
      });
      for (int64_t i = 0; i < k; ++i) {
        const auto at = static_cast<size_t>((outer * k + i) * split.inner + inner);
        values.mutable_values<T>()[at] = row[order[static_cast<size_t>(i)] * split.inner];
        indices.mutable_values<int64_t>()[at] = order[static_cast<size_t>(i)];
      }
    });
    context.outputs[0] = values.cast(input.dtype());
  });
}

constexpr KernelEntry kKernels[] = {
    {"ArgMax", arg_extreme<true>},
    {"ArgMin", arg_extreme<false>},
    {"CumSum", cumsum},
    {"TopK", top_k},
};

}  // namespace

std::span<const KernelEntry> ranking_kernels() { return kKernels; }

}  // namespace hone::reference
