// CumSum of float32: along rows several at a time, since each addition waits for the one before, or along
// columns all at once.
#include <algorithm>
#include <type_traits>

#include "device/cpu/around_axis.hpp"
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
      : around_(shape, axis), exclusive_(exclusive), reverse_(reverse) {}

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const float*>(run.inputs[0]);
    auto* y = static_cast<float*>(run.outputs[0]);
    const bool parallel = around_.outer * around_.length * around_.inner > kWorthThreads;
    if (around_.inner == 1) {
      in_ranges(around_.outer, parallel, [&](int64_t begin, int64_t end) { sum_rows_of(x, y, begin, end); });
      return;
    }
    const int64_t blocks = (around_.inner + kColumns - 1) / kColumns;
    in_ranges(around_.outer * blocks, parallel, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t first = unit % blocks * kColumns;
        const int64_t at = unit / blocks * around_.length * around_.inner + first;
        sum_columns(x + at, y + at, static_cast<size_t>(std::min(kColumns, around_.inner - first)));
      }
    });
  }

 private:
  void sum_rows_of(const float* x, float* y, int64_t begin, int64_t end) const {
    for (; begin + kRows <= end; begin += kRows)
      sum_rows(x + begin * around_.length, y + begin * around_.length, around_.length, exclusive_, reverse_);
    for (; begin < end; ++begin)
      sum_row(x + begin * around_.length, y + begin * around_.length, around_.length, exclusive_, reverse_);
  }

  void sum_columns(const float* x, float* y, size_t n) const {
    float sums[kColumns] = {};
    for (int64_t i = 0; i < around_.length; ++i) {
      const int64_t at = (reverse_ ? around_.length - 1 - i : i) * around_.inner;
      add_columns(x + at, y + at, sums, n, exclusive_);
    }
  }

  AroundAxis around_;
  bool exclusive_;
  bool reverse_;
};

/// Cumulative sums of integers, as the positions of tokens are counted: few enough for one thread. Sums wrap
/// around.
template <class T>
class IntegerSumKernel final : public engine::Kernel {
 public:
  IntegerSumKernel(const Shape& shape, int64_t axis, bool exclusive, bool reverse)
      : around_(shape, axis), exclusive_(exclusive), reverse_(reverse) {}

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const T*>(run.inputs[0]);
    auto* y = static_cast<T*>(run.outputs[0]);
    for (int64_t i = 0; i < around_.lines(); ++i) {
      const int64_t first = around_.first_of(i);
      std::make_unsigned_t<T> sum = 0;
      for (int64_t k = 0; k < around_.length; ++k) {
        const int64_t at = first + (reverse_ ? around_.length - 1 - k : k) * around_.inner;
        const auto before = sum;
        sum += static_cast<std::make_unsigned_t<T>>(x[at]);
        y[at] = static_cast<T>(exclusive_ ? before : sum);
      }
    }
  }

 private:
  AroundAxis around_;
  bool exclusive_;
  bool reverse_;
};

Offer offer_cumulative_sum(const StepRequest& request, engine::WeightStore&) {
  const tensor::Tensor* axis = request.graph.constant(request.node.inputs[1]);
  if (axis == nullptr || axis->size() != 1) return Offer::refuse("the axis is computed");
  const Shape& shape = request.inputs[0].shape;
  if (shape.empty()) return Offer::refuse("a scalar");
  const tensor::DType dtype = request.graph.value(request.node.inputs[0]).type.dtype;
  const auto kernel = [&]<class Kernel>(std::type_identity<Kernel>) -> std::shared_ptr<const engine::Kernel> {
    return std::make_shared<Kernel>(
        shape, tensor::normalize_axis(axis->to_int64()[0], static_cast<int64_t>(shape.size())),
        request.node.attributes.get_int("exclusive") != 0, request.node.attributes.get_int("reverse") != 0);
  };
  Offer offer;
  offer.inputs = {{dtype, shape, Layout::kPlain}, {}};
  offer.outputs = request.outputs;
  switch (dtype) {
    case tensor::DType::kFloat32: offer.kernel = kernel(std::type_identity<CumulativeSumKernel>{}); break;
    case tensor::DType::kInt32: offer.kernel = kernel(std::type_identity<IntegerSumKernel<int32_t>>{}); break;
    case tensor::DType::kInt64: offer.kernel = kernel(std::type_identity<IntegerSumKernel<int64_t>>{}); break;
    default: return Offer::refuse("only float32, int32 and int64");
  }
  return offer;
}

}  // namespace

void add_cumulative_sum_tactics(TacticList& list) {
  list.push_back({.name = "cumulative_sum",
                  .operators = {"CumSum"},
                  .requirements = {engine::nonempty_input},
                  .make = offer_cumulative_sum});
}

}  // namespace hone::device::cpu
