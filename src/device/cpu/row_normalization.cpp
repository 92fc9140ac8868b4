// Normalisation of layers to mean 0 and variance 1: of rows that are contiguous in plain memory. Rows of
// bfloat16 are widened, so that statistics are those of float32.
#include <algorithm>
#include <cmath>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/ranges.hpp"
#include "device/cpu/reduction_math.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::BFloat16;
using tensor::DType;

constexpr int64_t kWorthThreads = 1 << 16;
/// Elements of rows that are widened at a time.
constexpr int64_t kWideElements = 4096;

struct Statistics {
  float mean;
  float scale;
};

Statistics statistics_of(const float* x, int64_t length, float epsilon) {
  const auto n = static_cast<size_t>(length);
  const float mean = fold_row(Fold::kSum, x, n) / static_cast<float>(length);
  const float variance = fold_deviations(x, mean, n) / static_cast<float>(length);
  return {mean, 1 / std::sqrt(variance + epsilon)};
}

/// Every row with the same scales and shifts, one for each element.
class LayerNormKernel final : public engine::Kernel {
 public:
  LayerNormKernel(DType storage, int64_t rows, int64_t length, float epsilon)
      : storage_(storage), rows_(rows), length_(length), epsilon_(epsilon), threads_(omp_get_max_threads()) {}

  /// Floats of the rows of a thread that reads others.
  int64_t scratch_bytes() const {
    return storage_ == DType::kFloat32 ? 0 : threads_ * rows_together() * length_ * int64_t{sizeof(float)};
  }

  void run(const engine::Run& run) const override {
    in_shares(rows_, threads_, rows_ * length_ > kWorthThreads,
              [&](int64_t begin, int64_t end, int64_t thread) {
                if (storage_ == DType::kFloat32) {
                  return normalize(run, begin, end - begin,
                                   static_cast<const float*>(run.inputs[0]) + begin * length_,
                                   static_cast<float*>(run.outputs[0]) + begin * length_);
                }
                const int64_t most = rows_together();
                float* const wide = static_cast<float*>(run.scratch) + thread * most * length_;
                for (int64_t row = begin; row < end; row += most) {
                  const int64_t rows = std::min(most, end - row);
                  const auto n = static_cast<size_t>(rows * length_);
                  widen(static_cast<const BFloat16*>(run.inputs[0]) + row * length_, wide, n);
                  normalize(run, row, rows, wide, wide);
                  narrow(wide, static_cast<BFloat16*>(run.outputs[0]) + row * length_, n);
                }
              });
  }

 private:
  /// Rows that are widened at a time: they stay in the first-level cache.
  int64_t rows_together() const { return std::clamp<int64_t>(kWideElements / length_, 1, rows_); }

  /// Normalizes rows from `first` on.
  void normalize(const engine::Run& run, int64_t first, int64_t rows, const float* from, float* to) const {
    const auto* scales = static_cast<const float*>(run.inputs[1]);
    const auto* shifts = run.inputs.size() > 2 ? static_cast<const float*>(run.inputs[2]) : nullptr;
    auto* means = run.outputs.size() > 1 ? static_cast<float*>(run.outputs[1]) : nullptr;
    auto* deviations = run.outputs.size() > 2 ? static_cast<float*>(run.outputs[2]) : nullptr;
    if (means != nullptr) means += first;
    if (deviations != nullptr) deviations += first;
    const auto n = static_cast<size_t>(length_);
    if (n <= kShortRow) {
      return normalize_short_rows(from, static_cast<size_t>(rows), n, epsilon_, scales, shifts, to, means,
                                  deviations);
    }
    for (int64_t row = 0; row < rows; ++row, from += length_, to += length_) {
      const Statistics statistics = statistics_of(from, length_, epsilon_);
      if (means != nullptr) means[row] = statistics.mean;
      if (deviations != nullptr) deviations[row] = statistics.scale;
      normalize_row(from, statistics.mean, statistics.scale, scales, shifts, to, n);
    }
  }

  DType storage_;
  int64_t rows_;
  int64_t length_;
  float epsilon_;
  int64_t threads_;
};

Offer offer_layer_norm(const StepRequest& request, engine::WeightStore&) {
  const Shape& shape = request.inputs[0].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = tensor::normalize_axis(request.node.attributes.get_int("axis"), rank);
  const Shape layer(shape.begin() + axis, shape.end());
  const int64_t length = tensor::element_count(layer);
  Offer offer;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (!request.node.has_input(i)) {
      offer.inputs.emplace_back();
      continue;
    }
    const Shape& own = request.inputs[i].shape;
    const bool fits = i == 0 || (tensor::element_count(own) == length && own.size() <= shape.size());
    if (!fits) return Offer::refuse("a scale or shift is broadcast within a layer");
    offer.inputs.push_back({DType::kFloat32, own, Layout::kPlain});
  }
  for (size_t i = 1; i < request.outputs.size(); ++i) {
    if (request.node.has_output(i) && request.outputs[i].dtype != DType::kFloat32)
      return Offer::refuse("statistics of another type than float32");
  }
  offer.outputs = request.outputs;
  offer.inputs[0].dtype = offer.outputs[0].dtype = request.storage();
  // Each row is read whole before it is written.
  offer.in_place_input = 0;
  auto kernel = std::make_shared<LayerNormKernel>(request.storage(), tensor::element_count(shape) / length,
                                                  length, request.node.attributes.get_float("epsilon"));
  offer.scratch_bytes = kernel->scratch_bytes();
  offer.kernel = std::move(kernel);
  return offer;
}

}  // namespace

void add_row_normalization_tactics(TacticList& list) {
  list.push_back({.name = "layer_norm",
                  .operators = {"LayerNormalization"},
                  .requirements = {engine::only_float32, engine::nonempty_input},
                  .make = offer_layer_norm});
}

}  // namespace hone::device::cpu
