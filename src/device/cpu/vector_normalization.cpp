// LpNormalization along any axis, and MeanVarianceNormalization over axes among which is the innermost.
#include "device/cpu/vector_normalization.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "device/cpu/around_axis.hpp"
#include "device/cpu/ranges.hpp"
#include "device/cpu/reduction.hpp"
#include "device/cpu/reduction_math.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using tensor::DType;

/// Elements that are worth starting threads for.
constexpr int64_t kWorthThreads = 1 << 16;
/// Added to the standard deviation (ONNX, MeanVarianceNormalization).
constexpr double kEpsilon = 1e-9;

/// Vectors of norm 0 stay as they are.
class LpNormKernel final : public engine::Kernel {
 public:
  LpNormKernel(const Shape& shape, int64_t axis, bool absolute)
      : around_(shape, axis),
        fold_(absolute ? Fold::kSumOfAbsolutes : Fold::kSumOfSquares),
        threads_(omp_get_max_threads()) {}

  /// A scale of each column for each thread.
  int64_t scratch_bytes() const {
    return around_.inner == 1 ? 0 : threads_ * around_.inner * int64_t{sizeof(float)};
  }

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const float*>(run.inputs[0]);
    auto* y = static_cast<float*>(run.outputs[0]);
    const int64_t size = around_.length * around_.inner;
    const bool parallel = around_.outer * size > kWorthThreads;
    in_shares(around_.outer, threads_, parallel, [&](int64_t begin, int64_t end, int64_t thread) {
      float* const scales = static_cast<float*>(run.scratch) + thread * around_.inner;
      for (int64_t i = begin; i < end; ++i) {
        if (around_.inner == 1) {
          const auto n = static_cast<size_t>(size);
          scale_row(x + i * size, scale_of(fold_row(fold_, x + i * size, n)), 0, y + i * size, n);
        } else {
          normalize_columns(x + i * size, y + i * size, scales);
        }
      }
    });
  }

 private:
  float scale_of(float folded) const {
    const float norm = fold_ == Fold::kSumOfSquares ? std::sqrt(folded) : folded;
    return norm == 0 ? 1 : 1 / norm;
  }

  void normalize_columns(const float* x, float* y, float* scales) const {
    const auto n = static_cast<size_t>(around_.inner);
    std::fill_n(scales, n, fold_start(fold_));
    fold_columns(fold_, x, n, static_cast<size_t>(around_.length), scales, n);
    for (size_t i = 0; i < n; ++i) scales[i] = scale_of(scales[i]);
    for (int64_t i = 0; i < around_.length; ++i)
      scale_columns(x + i * around_.inner, scales, y + i * around_.inner, n);
  }

  AroundAxis around_;
  Fold fold_;
  int64_t threads_;
};

Offer plain_offer(const StepRequest& request, std::shared_ptr<const engine::Kernel> kernel) {
  Offer offer;
  offer.inputs = {{DType::kFloat32, request.inputs[0].shape, Layout::kPlain}};
  offer.outputs = request.outputs;
  // Each vector is read before it is written.
  offer.in_place_input = 0;
  offer.kernel = std::move(kernel);
  return offer;
}

Offer offer_lp_norm(const StepRequest& request, engine::WeightStore&) {
  const Shape& shape = request.inputs[0].shape;
  if (shape.empty()) return Offer::refuse("a scalar");
  const int64_t axis =
      tensor::normalize_axis(request.node.attributes.get_int("axis"), static_cast<int64_t>(shape.size()));
  auto kernel = std::make_shared<LpNormKernel>(shape, axis, request.node.attributes.get_int("p") == 1);
  const int64_t scratch_bytes = kernel->scratch_bytes();
  Offer offer = plain_offer(request, std::move(kernel));
  offer.scratch_bytes = scratch_bytes;
  return offer;
}

class MeanVarianceKernel final : public engine::Kernel {
 public:
  explicit MeanVarianceKernel(ReducedDims dims) : dims_(std::move(dims)) {}

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const float*>(run.inputs[0]);
    auto* y = static_cast<float*>(run.outputs[0]);
    const int64_t rows = dims_.reduced.count();
    const auto n = static_cast<size_t>(dims_.row);
    const auto count = static_cast<double>(rows * dims_.row);
    in_ranges(
        dims_.kept.count(), dims_.kept.count() * rows * dims_.row > kWorthThreads,
        [&](int64_t begin, int64_t end) {
          for (int64_t k = begin; k < end; ++k) {
            const int64_t first = dims_.kept.offset(k);
            const auto sum_of = [&](auto&& fold) {
              double sum = 0;
              for (int64_t r = 0; r < rows; ++r)
                sum += static_cast<double>(fold(x + first + dims_.reduced.offset(r)));
              return sum / count;
            };
            const auto mean =
                static_cast<float>(sum_of([&](const float* row) { return fold_row(Fold::kSum, row, n); }));
            const double variance = sum_of([&](const float* row) { return fold_deviations(row, mean, n); });
            const auto scale = static_cast<float>(1 / (std::sqrt(variance) + kEpsilon));
            for (int64_t r = 0; r < rows; ++r) {
              const int64_t at = first + dims_.reduced.offset(r);
              scale_row(x + at, scale, -mean * scale, y + at, n);
            }
          }
        });
  }

 private:
  ReducedDims dims_;
};

Offer offer_mean_variance(const StepRequest& request, engine::WeightStore&) {
  const Shape& shape = request.inputs[0].shape;
  std::vector<bool> reduced(shape.size(), false);
  for (const int64_t axis : request.node.attributes.get_ints("axes"))
    reduced[static_cast<size_t>(tensor::normalize_axis(axis, static_cast<int64_t>(shape.size())))] = true;
  ReducedDims dims(shape, reduced);
  if (dims.columns != 1) return Offer::refuse("the innermost axis is kept");
  return plain_offer(request, std::make_shared<MeanVarianceKernel>(std::move(dims)));
}

}  // namespace

void add_vector_normalization_tactics(TacticList& list) {
  list.push_back({.name = "lp_norm",
                  .operators = {"LpNormalization"},
                  .requirements = {engine::only_float32, engine::nonempty_input},
                  .make = offer_lp_norm});
  list.push_back({.name = "mean_variance",
                  .operators = {"MeanVarianceNormalization"},
                  .requirements = {engine::only_float32, engine::nonempty_input},
                  .make = offer_mean_variance});
}

}  // namespace hone::device::cpu
