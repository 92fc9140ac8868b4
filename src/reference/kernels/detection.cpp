// Reference kernels of the detection family: the list, and NonMaxSuppression.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/kernel_list.hpp"
#include "reference/kernels/detection_family.hpp"

namespace hone::reference {
namespace {

struct Box {
  double low[2];
  double high[2];

  double area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

/// Reads two opposite corners in any order, or (x centre, y centre, width, height).
Box read_box(const float* values, bool centered) {
  Box box{};
  for (size_t i = 0; i < 2; ++i) {
    const double first = values[i];
    const double second = values[i + 2];
    box.low[i] = centered ? first - second / 2 : std::min(first, second);
    box.high[i] = centered ? first + second / 2 : std::max(first, second);
  }
  return box;
}

/// Area of the intersection divided by area of the union; 0 for boxes without area.
double overlap(const Box& a, const Box& b) {
  double intersection = 1;
  for (size_t i = 0; i < 2; ++i) {
    const double length = std::min(a.high[i], b.high[i]) - std::max(a.low[i], b.low[i]);
    if (!(length > 0)) return 0;
    intersection *= length;
  }
  const double together = a.area() + b.area() - intersection;
  return together > 0 ? intersection / together : 0;
}

/// Visits boxes by descending score (for equal scores, the lower index first). A box is kept if it overlaps
/// no kept box by more than the limit.
std::vector<int64_t> select(const std::vector<Box>& boxes, const float* scores, size_t most, double limit,
                            const float* lowest_score) {
  std::vector<int64_t> order(boxes.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](int64_t i) {
    return std::isnan(scores[i]) || (lowest_score != nullptr && !(scores[i] > *lowest_score));
  });
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t k) { return scores[i] > scores[k]; });
  std::vector<int64_t> kept;
  for (const int64_t i : order) {
    if (kept.size() >= most) break;
    const bool suppressed = std::any_of(kept.begin(), kept.end(), [&](int64_t k) {
      return overlap(boxes[static_cast<size_t>(i)], boxes[static_cast<size_t>(k)]) > limit;
    });
    if (!suppressed) kept.push_back(i);
  }
  return kept;
}

/// The only element of an optional scalar input; null if the input is absent.
template <class T>
const T* scalar_input(const KernelContext& context, size_t i) {
  if (!context.has_input(i)) return nullptr;
  if (context.input(i).size() != 1) fail_bad_input("input {} has {} elements", i, context.input(i).size());
  return context.input(i).values<T>().data();
}

void non_max_suppression(KernelContext& context) {
  const Tensor& boxes = context.input(0);
  const Tensor& scores = context.input(1);
  const Shape& shape = scores.shape();
  if (shape.size() != 3 || boxes.shape() != Shape{shape[0], shape[2], 4}) {
    fail_bad_input("boxes and scores have shapes {} and {}", tensor::shape_text(boxes.shape()),
                   tensor::shape_text(shape));
  }
  const bool centered = context.attributes().get_int("center_point_box") == 1;
  const auto* most = scalar_input<int64_t>(context, 2);
  const auto* limit = scalar_input<float>(context, 3);
  const auto* lowest_score = scalar_input<float>(context, 4);
  const auto count = static_cast<size_t>(shape[2]);
  const size_t selected_most =
      most == nullptr ? 0 : static_cast<size_t>(std::clamp<int64_t>(*most, 0, shape[2]));
  std::vector<int64_t> selected;
  for (int64_t batch = 0; batch < shape[0]; ++batch) {
    std::vector<Box> candidates;
    for (size_t i = 0; i < count; ++i) {
      const size_t at = (static_cast<size_t>(batch) * count + i) * 4;
      candidates.push_back(read_box(boxes.values<float>().data() + at, centered));
    }
    for (int64_t label = 0; label < shape[1]; ++label) {
      const float* row = scores.values<float>().data() + (batch * shape[1] + label) * shape[2];
      const auto kept = select(candidates, row, selected_most, limit == nullptr ? 0 : *limit, lowest_score);
      for (const int64_t i : kept) selected.insert(selected.end(), {batch, label, i});
    }
  }
  const auto rows = static_cast<int64_t>(selected.size() / 3);
  context.outputs[0] = Tensor::of<int64_t>(selected, {rows, 3});
}

constexpr KernelEntry kKernels[] = {
    {"NonMaxSuppression", non_max_suppression},
    {"RoiAlign", roi_align},
    {"MaxRoiPool", max_roi_pool},
};

}  // namespace

std::span<const KernelEntry> detection_kernels() { return kKernels; }

}  // namespace hone::reference
