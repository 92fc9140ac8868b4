// Softmax and LogSoftmax along any axis: rows one by one, or many columns at once.
#include <algorithm>
#include <cmath>

#include "device/cpu/around_axis.hpp"
#include "device/cpu/reduction_math.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;

class SoftmaxKernel final : public engine::Kernel {
 public:
  SoftmaxKernel(const engine::Shape& shape, int64_t axis, bool log) : around_(shape, axis), log_(log) {}

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const float*>(run.inputs[0]);
    auto* y = static_cast<float*>(run.outputs[0]);
    const int64_t blocks = (around_.inner + kColumns - 1) / kColumns;
    const bool parallel =
        around_.outer * blocks > 1 && around_.outer * around_.length * around_.inner > kWorthThreads;
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t unit = 0; unit < around_.outer * blocks; ++unit) {
      if (around_.inner == 1) {
        run_row(x + unit * around_.length, y + unit * around_.length);
        continue;
      }
      const int64_t first = unit % blocks * kColumns;
      const int64_t at = unit / blocks * around_.length * around_.inner + first;
      run_columns(x + at, y + at, static_cast<size_t>(std::min(kColumns, around_.inner - first)));
    }
  }

 private:
  static constexpr int64_t kColumns = 256;
  static constexpr int64_t kWorthThreads = 1 << 16;

  void run_row(const float* x, float* y) const {
    const auto n = static_cast<size_t>(around_.length);
    const float largest = fold_row(Fold::kMax, x, n);
    const float sum = exp_row(x, largest, log_ ? nullptr : y, n);
    if (!log_) return scale_row(y, 1 / sum, 0, y, n);
    // The largest value comes off first: next to one that is far from 0 the logarithm would lose its digits.
    scale_row(x, 1, -largest, y, n);
    scale_row(y, 1, -std::log(sum), y, n);
  }

  void run_columns(const float* x, float* y, size_t n) const {
    float largest[kColumns];
    float sums[kColumns] = {};
    std::fill(largest, largest + n, fold_start(Fold::kMax));
    const auto rows = static_cast<size_t>(around_.length);
    const auto stride = static_cast<size_t>(around_.inner);
    fold_columns(Fold::kMax, x, stride, rows, largest, n);
    float exponentials[kColumns];
    for (size_t r = 0; r < rows; ++r)
      exp_columns(x + r * stride, largest, log_ ? exponentials : y + r * stride, sums, n);
    for (size_t j = 0; j < n; ++j) sums[j] = log_ ? std::log(sums[j]) : 1 / sums[j];
    for (size_t r = 0; r < rows; ++r) {
      if (log_) {
        shift_columns(x + r * stride, largest, y + r * stride, n);
        shift_columns(y + r * stride, sums, y + r * stride, n);
      } else {
        scale_columns(y + r * stride, sums, y + r * stride, n);
      }
    }
  }

  AroundAxis around_;
  bool log_;
};

Offer offer_softmax(const StepRequest& request, engine::WeightStore&) {
  const engine::Shape& shape = request.outputs[0].shape;
  if (shape.empty()) return Offer::refuse("a scalar");
  const int64_t axis =
      tensor::normalize_axis(request.node.attributes.get_int("axis"), static_cast<int64_t>(shape.size()));
  Offer offer;
  // In float32 whatever the precision: a softmax is small, and its result is often the model's.
  offer.inputs = {{tensor::DType::kFloat32, shape, Layout::kPlain}};
  offer.outputs = offer.inputs;
  offer.in_place_input = 0;
  offer.kernel = std::make_shared<SoftmaxKernel>(shape, axis, request.node.op == "LogSoftmax");
  return offer;
}

}  // namespace

void add_softmax_tactics(TacticList& list) {
  list.push_back({.name = "softmax",
                  .operators = {"Softmax", "LogSoftmax"},
                  .requirements = {engine::only_float32, engine::nonempty_output},
                  .make = offer_softmax});
}

}  // namespace hone::device::cpu
