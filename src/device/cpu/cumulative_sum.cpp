// CumSum of float32: along rows several at a time, since each addition waits for the one before, or along
// columns all at once.
#include <algorithm>

#include "device/cpu/clones.hpp"
#include "device/cpu/ranges.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;

constexpr int64_t kWorthThreads = 1 << 16;
constexpr int64_t kRows = 8;
constexpr int64_t kColumns = 1024;

/// Sums `kRows` rows of `length` elements, each from its first or its last element on.
HONE_CLONES void sum_rows(const float* x, float* y, int64_t length, bool exclusive, bool reverse) {
  float sums[kRows] = {};
  for (int64_t i = 0; i < length; ++i) {
    const int64_t at = reverse ? length - 1 - i : i;
    for (int64_t r = 0; r < kRows; ++r) {
      const float before = sums[r];
      sums[r] += x[r * length + at];
      y[r * length + at] = exclusive ? before : sums[r];
    }
  }
}

void sum_row(const float* x, float* y, int64_t length, bool exclusive, bool reverse) {
  float sum = 0;
  for (int64_t i = 0; i < length; ++i) {
    const int64_t at = reverse ? length - 1 - i : i;
    const float before = sum;
    sum += x[at];
    y[at] = exclusive ? before : sum;
  }
}

/// sums[j] += x[j]; y[j] is the sum before or after.
HONE_CLONES void add_columns(const float* x, float* y, float* sums, size_t n, bool exclusive) {
  if (exclusive) {
#pragma omp simd
    for (size_t j = 0; j < n; ++j) {
      const float before = sums[j];
      sums[j] += x[j];
      y[j] = before;
    }
    return;
  }
#pragma omp simd
  for (size_t j = 0; j < n; ++j) {
    sums[j] += x[j];
    y[j] = sums[j];
  }
}

class CumulativeSumKernel final : public engine::Kernel {
 public:
  CumulativeSumKernel(const Shape& shape, int64_t axis, bool exclusive, bool reverse)
      : length_(shape[static_cast<size_t>(axis)]), exclusive_(exclusive), reverse_(reverse) {
    for (int64_t d = 0; d < axis; ++d) outer_ *= shape[static_cast<size_t>(d)];
    for (size_t d = static_cast<size_t>(axis) + 1; d < shape.size(); ++d) inner_ *= shape[d];
  }

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const float*>(run.inputs[0]);
    auto* y = static_cast<float*>(run.outputs[0]);
    const bool parallel = outer_ * length_ * inner_ > kWorthThreads;
    if (inner_ == 1) {
      in_ranges(outer_, parallel, [&](int64_t begin, int64_t end) { sum_rows_of(x, y, begin, end); });
      return;
    }
    const int64_t blocks = (inner_ + kColumns - 1) / kColumns;
    in_ranges(outer_ * blocks, parallel, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t first = unit % blocks * kColumns;
        const int64_t at = unit / blocks * length_ * inner_ + first;
        sum_columns(x + at, y + at, static_cast<size_t>(std::min(kColumns, inner_ - first)));
      }
    });
  }

 private:
  void sum_rows_of(const float* x, float* y, int64_t begin, int64_t end) const {
    for (; begin + kRows <= end; begin += kRows)
      sum_rows(x + begin * length_, y + begin * length_, length_, exclusive_, reverse_);
    for (; begin < end; ++begin)
      sum_row(x + begin * length_, y + begin * length_, length_, exclusive_, reverse_);
  }

  void sum_columns(const float* x, float* y, size_t n) const {
    float sums[kColumns] = {};
    for (int64_t i = 0; i < length_; ++i) {
      const int64_t at = (reverse_ ? length_ - 1 - i : i) * inner_;
      add_columns(x + at, y + at, sums, n, exclusive_);
    }
  }

  int64_t outer_ = 1;
  int64_t length_;
  int64_t inner_ = 1;
  bool exclusive_;
  bool reverse_;
};

Offer offer_cumulative_sum(const StepRequest& request, engine::WeightStore&) {
  const tensor::Tensor* axis = request.graph.constant(request.node.inputs[1]);
  if (axis == nullptr || axis->size() != 1) return Offer::refuse("the axis is computed");
  const Shape& shape = request.inputs[0].shape;
  if (shape.empty()) return Offer::refuse("a scalar");
  Offer offer;
  offer.inputs = {{tensor::DType::kFloat32, shape, Layout::kPlain}, {}};
  offer.outputs = request.outputs;
  offer.kernel = std::make_shared<CumulativeSumKernel>(
      shape, tensor::normalize_axis(axis->to_int64()[0], static_cast<int64_t>(shape.size())),
      request.node.attributes.get_int("exclusive") != 0, request.node.attributes.get_int("reverse") != 0);
  return offer;
}

}  // namespace

void add_cumulative_sum_tactics(TacticList& list) {
  list.push_back({.name = "cumulative_sum",
                  .operators = {"CumSum"},
                  .requirements = {engine::only_float32, engine::nonempty_input},
                  .make = offer_cumulative_sum});
}

}  // namespace hone::device::cpu
