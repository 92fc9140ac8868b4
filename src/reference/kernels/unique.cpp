// Reference kernel of Unique: the distinct elements, or the distinct slices along an axis.
#include "reference/kernels/unique.hpp"

#include <algorithm>
#include <numeric>

#include "reference/compute.hpp"
#include "reference/strided.hpp"

namespace hone::reference {
namespace {

/// Slices of a tensor along one axis, compared element by element.
template <class T>
class Slices {
 public:
  Slices(const Tensor& x, const AxisSplit& split) : wide_(widened(x)), split_(split) {}

  /// Negative, zero or positive if slice a is before, equal to or after slice b.
  int compare(int64_t a, int64_t b) const {
    for (int64_t outer = 0; outer < split_.outer; ++outer) {
      for (int64_t inner = 0; inner < split_.inner; ++inner) {
        const T& x = at(outer, a, inner);
        const T& y = at(outer, b, inner);
        // NaN is equal to itself and after every number, so that the order is total.
        if (x < y || (x == x && y != y)) return -1;
        if (y < x || (y == y && x != x)) return 1;
      }
    }
    return 0;
  }

 private:
  const T& at(int64_t outer, int64_t i, int64_t inner) const {
    return wide_.values<T>()[static_cast<size_t>((outer * split_.length + i) * split_.inner + inner)];
  }

  Tensor wide_;
  AxisSplit split_;
};

struct Groups {
  std::vector<int64_t> first;    ///< the first member of each group
  std::vector<int64_t> inverse;  ///< the group of each slice
  std::vector<int64_t> counts;   ///< the number of members of each group
};

template <class T>
Groups group(const Slices<T>& slices, int64_t length, bool sorted) {
  std::vector<int64_t> order(static_cast<size_t>(length));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return slices.compare(a, b) < 0; });
  Groups groups;
  groups.inverse.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || slices.compare(order[i - 1], order[i]) != 0) {
      groups.first.push_back(order[i]);
      groups.counts.push_back(0);
    }
    ++groups.counts.back();
    groups.inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(groups.first.size()) - 1;
  }
  if (sorted) return groups;
  // Orders the groups by their first members.
  std::vector<int64_t> ranks(groups.first.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto& first = groups.first;
  std::sort(ranks.begin(), ranks.end(), [&](int64_t a, int64_t b) {
    return first[static_cast<size_t>(a)] < first[static_cast<size_t>(b)];
  });
  Groups result;
  std::vector<int64_t> place(ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i) {
    const auto old = static_cast<size_t>(ranks[i]);
    result.first.push_back(groups.first[old]);
    result.counts.push_back(groups.counts[old]);
    place[old] = static_cast<int64_t>(i);
  }
  for (const int64_t old : groups.inverse) result.inverse.push_back(place[static_cast<size_t>(old)]);
  return result;
}

}  // namespace

void unique(KernelContext& context) {
  const bool flat = !context.attributes().has("axis");
  const Tensor x = flat ? context.input(0).reshaped({context.input(0).size()}) : context.input(0);
  const int64_t axis = flat ? 0 : tensor::normalize_axis(context.attributes().get_int("axis"), x.rank());
  const AxisSplit split = split_at(x.shape(), axis);
  const bool sorted = context.attributes().get_int("sorted") != 0;
  const Groups groups =
      visit_compute(x.dtype(), [&]<class T>() { return group(Slices<T>(x, split), split.length, sorted); });

  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = static_cast<int64_t>(groups.first.size());
  Tensor y(x.dtype(), shape);
  const Shape strides = tensor::row_major_strides(x.shape());
  View target = whole(shape);
  Shape slice = shape;
  slice[static_cast<size_t>(axis)] = 1;
  for (const int64_t first : groups.first) {
    copy(slice, x, {first * strides[static_cast<size_t>(axis)], strides}, y, target);
    target.offset += target.strides[static_cast<size_t>(axis)];
  }
  context.outputs[0] = std::move(y);
  const std::vector<int64_t>* lists[] = {&groups.first, &groups.inverse, &groups.counts};
  for (size_t i = 1; i < context.outputs.size(); ++i) {
    context.outputs[i] = Tensor::of(*lists[i - 1], {static_cast<int64_t>(lists[i - 1]->size())});
  }
}

}  // namespace hone::reference
