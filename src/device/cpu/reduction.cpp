// Reductions over any axes, and the extreme element of an axis: one pass over the input, row by row where
// the innermost axis is reduced, and many columns at once where it is not.
#include "device/cpu/reduction.hpp"
#include "device/cpu/around_axis.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

/// The function of a fold's result.
enum class Finish : uint8_t { kNone, kMean, kRoot, kLog };

struct Reduction {
  std::string_view op;
  Fold fold;
  Finish finish = Finish::kNone;
};

constexpr Reduction kReductions[] = {{"ReduceSum", Fold::kSum},
                                     {"ReduceMean", Fold::kSum, Finish::kMean},
                                     {"ReduceMax", Fold::kMax},
                                     {"ReduceMin", Fold::kMin},
                                     {"ReduceProd", Fold::kProduct},
                                     {"ReduceL1", Fold::kSumOfAbsolutes},
                                     {"ReduceL2", Fold::kSumOfSquares, Finish::kRoot},
                                     {"ReduceSumSquare", Fold::kSumOfSquares},
                                     {"ReduceLogSum", Fold::kSum, Finish::kLog}};

/// Elements that are worth starting threads for.
constexpr int64_t kWorthThreads = 1 << 17;

class ReduceKernel final : public engine::Kernel {
 public:
  ReduceKernel(ReducedDims dims, Reduction reduction) : dims_(std::move(dims)), reduction_(reduction) {
    count_ = static_cast<double>(dims_.reduced.count() * dims_.row);
  }

  /// The result of each part of one long row.
  int64_t scratch_bytes() const { return is_one_row() ? parts() * int64_t{sizeof(float)} : 0; }

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const float*>(run.inputs[0]);
    auto* y = static_cast<float*>(run.outputs[0]);
    if (is_one_row()) return reduce_all(x, y, static_cast<float*>(run.scratch));
    if (dims_.columns == 1) return reduce_rows(x, y);
    reduce_columns(x, y);
  }

 private:
  static constexpr int64_t kColumns = 256;
  static constexpr int64_t kPart = 1 << 14;

  bool is_one_row() const {
    return dims_.columns == 1 && dims_.kept.count() == 1 && dims_.reduced.count() == 1 &&
           dims_.row > 2 * kPart;
  }
  int64_t parts() const { return (dims_.row + kPart - 1) / kPart; }

  float finish(float value) const {
    switch (reduction_.finish) {
      case Finish::kMean: return static_cast<float>(value / count_);
      case Finish::kRoot: return std::sqrt(value);
      case Finish::kLog: return std::log(value);
      case Finish::kNone: break;
    }
    return value;
  }

  void reduce_rows(const float* x, float* y) const {
    const int64_t kept = dims_.kept.count();
    const int64_t rows = dims_.reduced.count();
#pragma omp parallel for schedule(static) if (kept > 1 && kept * rows * dims_.row > kWorthThreads)
    for (int64_t k = 0; k < kept; ++k) {
      const float* from = x + dims_.kept.offset(k);
      if (rows == 1) {
        y[k] = finish(fold_row(reduction_.fold, from, static_cast<size_t>(dims_.row)));
        continue;
      }
      float value = fold_start(reduction_.fold);
      for (int64_t r = 0; r < rows; ++r) {
        value = join_folds(
            reduction_.fold, value,
            fold_row(reduction_.fold, from + dims_.reduced.offset(r), static_cast<size_t>(dims_.row)));
      }
      y[k] = finish(value);
    }
  }

  /// One long row in parts, the same ones whatever the number of threads.
  void reduce_all(const float* x, float* y, float* values) const {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < parts(); ++i) {
      values[i] = fold_row(reduction_.fold, x + i * kPart,
                           static_cast<size_t>(std::min(kPart, dims_.row - i * kPart)));
    }
    // A sum of squares or of absolute values is done with the parts' ones: those are added.
    const bool adds = reduction_.fold == Fold::kSumOfSquares || reduction_.fold == Fold::kSumOfAbsolutes;
    y[0] = finish(fold_row(adds ? Fold::kSum : reduction_.fold, values, static_cast<size_t>(parts())));
  }

  void reduce_columns(const float* x, float* y) const {
    const int64_t kept = dims_.kept.count();
    const int64_t blocks = (dims_.columns + kColumns - 1) / kColumns;
    const int64_t groups = dims_.reduced.outer_count();
    const int64_t work = kept * dims_.columns * dims_.reduced.count();
#pragma omp parallel for schedule(static) if (kept * blocks > 1 && work > kWorthThreads)
    for (int64_t unit = 0; unit < kept * blocks; ++unit) {
      const int64_t first = unit % blocks * kColumns;
      const auto n = static_cast<size_t>(std::min(kColumns, dims_.columns - first));
      const float* from = x + dims_.kept.offset(unit / blocks) + first;
      float folded[kColumns];
      std::fill(folded, folded + n, fold_start(reduction_.fold));
      for (int64_t g = 0; g < groups; ++g) {
        fold_columns(reduction_.fold, from + dims_.reduced.outer_offset(g),
                     static_cast<size_t>(dims_.reduced.inner_stride()),
                     static_cast<size_t>(dims_.reduced.inner()), folded, n);
      }
      float* to = y + unit / blocks * dims_.columns + first;
      for (size_t j = 0; j < n; ++j) to[j] = finish(folded[j]);
    }
  }

  ReducedDims dims_;
  Reduction reduction_;
  double count_;
};

/// log(sum(e^(x - max))) + max, which cannot overflow.
class LogSumExpKernel final : public engine::Kernel {
 public:
  explicit LogSumExpKernel(ReducedDims dims) : dims_(std::move(dims)) {}

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const float*>(run.inputs[0]);
    auto* y = static_cast<float*>(run.outputs[0]);
    const int64_t kept = dims_.kept.count();
    const int64_t units = kept * dims_.columns;
    const int64_t rows = dims_.reduced.count();
#pragma omp parallel for schedule(static) if (units > 1 && units * rows * dims_.row > kWorthThreads / 8)
    for (int64_t unit = 0; unit < units; ++unit) {
      const float* from = x + dims_.kept.offset(unit / dims_.columns) + unit % dims_.columns;
      const auto n = static_cast<size_t>(dims_.row);
      float largest = fold_start(Fold::kMax);
      for (int64_t r = 0; r < rows; ++r)
        largest = join_folds(Fold::kMax, largest, fold_row(Fold::kMax, from + dims_.reduced.offset(r), n));
      // An infinite maximum is no reference point: inf - inf is NaN.
      const float shift = std::isinf(largest) ? 0 : largest;
      double sum = 0;
      for (int64_t r = 0; r < rows; ++r)
        sum += static_cast<double>(exp_row(from + dims_.reduced.offset(r), shift, nullptr, n));
      y[unit] = static_cast<float>(std::log(sum)) + shift;
    }
  }

 private:
  ReducedDims dims_;
};

/// The axes that a Reduce* node reduces; nullopt where they are computed.
std::optional<std::vector<bool>> reduced_axes(const StepRequest& request) {
  const auto rank = static_cast<int64_t>(request.inputs[0].shape.size());
  std::vector<int64_t> axes;
  if (request.node.has_input(1)) {
    const tensor::Tensor* known = request.graph.constant(request.node.inputs[1]);
    if (known == nullptr) return std::nullopt;
    axes = known->to_int64();
  }
  const bool nothing = axes.empty() && request.node.attributes.get_int("noop_with_empty_axes") != 0;
  std::vector<bool> reduced(static_cast<size_t>(rank), axes.empty() && !nothing);
  for (const int64_t axis : axes) reduced[static_cast<size_t>(tensor::normalize_axis(axis, rank))] = true;
  return reduced;
}

Offer plain_offer(const StepRequest& request, std::shared_ptr<const engine::Kernel> kernel) {
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[0] = {tensor::DType::kFloat32, request.inputs[0].shape, Layout::kPlain};
  offer.outputs = request.outputs;
  offer.kernel = std::move(kernel);
  return offer;
}

Offer offer_reduction(const StepRequest& request, engine::WeightStore&) {
  const auto reduced = reduced_axes(request);
  if (!reduced) return Offer::refuse("the axes are computed");
  if (std::none_of(reduced->begin(), reduced->end(), [](bool r) { return r; }))
    return Offer::refuse("nothing is reduced");
  ReducedDims dims(request.inputs[0].shape, *reduced);
  if (request.node.op == "ReduceLogSumExp")
    return plain_offer(request, std::make_shared<LogSumExpKernel>(std::move(dims)));
  for (const Reduction& reduction : kReductions) {
    if (reduction.op != request.node.op) continue;
    auto kernel = std::make_shared<ReduceKernel>(std::move(dims), reduction);
    const int64_t scratch_bytes = kernel->scratch_bytes();
    Offer offer = plain_offer(request, std::move(kernel));
    offer.scratch_bytes = scratch_bytes;
    return offer;
  }
  fail_internal("{} is no reduction", request.node.op);
}

/// ArgMax and ArgMin.
class ExtremeKernel final : public engine::Kernel {
 public:
  ExtremeKernel(const Shape& shape, int64_t axis, bool largest, bool last)
      : around_(shape, axis), largest_(largest), last_(last) {}

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const float*>(run.inputs[0]);
    auto* y = static_cast<int64_t*>(run.outputs[0]);
    const int64_t blocks = (around_.inner + kColumns - 1) / kColumns;
    const bool parallel =
        around_.outer * blocks > 1 && around_.outer * around_.length * around_.inner > kWorthThreads;
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t unit = 0; unit < around_.outer * blocks; ++unit) {
      if (around_.inner == 1) {
        y[unit] = position_in_row(x + unit * around_.length);
        continue;
      }
      const int64_t first = unit % blocks * kColumns;
      const int64_t n = std::min(kColumns, around_.inner - first);
      search_columns(x + unit / blocks * around_.length * around_.inner + first, n,
                     y + unit / blocks * around_.inner + first);
    }
  }

 private:
  static constexpr int64_t kColumns = 256;

  int64_t position_in_row(const float* row) const {
    const float value =
        fold_row(largest_ ? Fold::kMax : Fold::kMin, row, static_cast<size_t>(around_.length));
    const auto is_it = [&](float v) { return v == value || (v != v && value != value); };
    if (!last_) return std::find_if(row, row + around_.length, is_it) - row;
    int64_t at = around_.length - 1;
    while (at > 0 && !is_it(row[at])) --at;
    return at;
  }

  void search_columns(const float* x, int64_t n, int64_t* y) const {
    float best[kColumns];
    int32_t at[kColumns] = {};
    for (int64_t j = 0; j < n; ++j) best[j] = largest_ ? x[j] : -x[j];
    for (int64_t i = 1; i < around_.length; ++i) {
      extreme_columns(x + i * around_.inner, static_cast<int32_t>(i), largest_, last_, best, at,
                      static_cast<size_t>(n));
    }
    std::copy(at, at + n, y);
  }

  AroundAxis around_;
  bool largest_;
  bool last_;
};

/// Finds the largest or smallest of integers, as the place of a token is found: few enough for one thread.
template <class T>
class IntegerExtremeKernel final : public engine::Kernel {
 public:
  IntegerExtremeKernel(const Shape& shape, int64_t axis, bool largest, bool last)
      : around_(shape, axis), largest_(largest), last_(last) {}

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const T*>(run.inputs[0]);
    auto* y = static_cast<int64_t*>(run.outputs[0]);
    for (int64_t i = 0; i < around_.lines(); ++i) {
      const T* const first = x + around_.first_of(i);
      int64_t best = 0;
      for (int64_t k = 1; k < around_.length; ++k) {
        const T value = first[k * around_.inner];
        const T kept = first[best * around_.inner];
        if ((largest_ ? value > kept : value < kept) || (last_ && value == kept)) best = k;
      }
      y[i] = best;
    }
  }

 private:
  AroundAxis around_;
  bool largest_;
  bool last_;
};

Offer offer_extreme(const StepRequest& request, engine::WeightStore&) {
  const TensorDesc& input = request.inputs[0];
  const tensor::DType dtype = request.graph.value(request.node.inputs[0]).type.dtype;
  const graph::Attributes& attributes = request.node.attributes;
  const int64_t axis =
      tensor::normalize_axis(attributes.get_int("axis"), static_cast<int64_t>(input.shape.size()));
  const bool largest = request.node.op == "ArgMax";
  const bool last = attributes.get_int("select_last_index") != 0;
  if (dtype == tensor::DType::kInt32 || dtype == tensor::DType::kInt64) {
    Offer offer;
    offer.inputs = {{dtype, input.shape, Layout::kPlain}};
    offer.outputs = request.outputs;
    if (dtype == tensor::DType::kInt32) {
      offer.kernel = std::make_shared<IntegerExtremeKernel<int32_t>>(input.shape, axis, largest, last);
    } else {
      offer.kernel = std::make_shared<IntegerExtremeKernel<int64_t>>(input.shape, axis, largest, last);
    }
    return offer;
  }
  if (dtype != tensor::DType::kFloat32) return Offer::refuse("only float32, int32 and int64");
  if (input.shape[static_cast<size_t>(axis)] > std::numeric_limits<int32_t>::max())
    return Offer::refuse("the axis is too long");
  return plain_offer(request, std::make_shared<ExtremeKernel>(input.shape, axis, largest, last));
}

}  // namespace

ReducedDims::ReducedDims(const Shape& shape, const std::vector<bool>& is_reduced) {
  const Shape steps = tensor::row_major_strides(shape);
  // Neighbours of one kind are one dimension, and those of one element are none.
  struct Dim {
    int64_t size, stride;
    bool reduced;
  };
  std::vector<Dim> dims;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (!dims.empty() && dims.back().reduced == is_reduced[d]) {
      dims.back().size *= shape[d];
      dims.back().stride = steps[d];
    } else {
      dims.push_back({shape[d], steps[d], is_reduced[d]});
    }
  }
  if (!dims.empty()) {
    (dims.back().reduced ? row : columns) = dims.back().size;
    dims.pop_back();
  }
  for (const Dim& dim : dims) (dim.reduced ? reduced : kept).add(dim.size, dim.stride);
}

void add_reduction_tactics(TacticList& list) {
  engine::Tactic reduce{.name = "reduce",
                        .operators = {"ReduceLogSumExp"},
                        .requirements = {engine::only_float32, engine::nonempty_input},
                        .make = offer_reduction};
  for (const Reduction& reduction : kReductions) reduce.operators.emplace_back(reduction.op);
  list.push_back(std::move(reduce));
  list.push_back({.name = "extreme",
                  .operators = {"ArgMax", "ArgMin"},
                  .requirements = {engine::nonempty_input},
                  .make = offer_extreme});
}

}  // namespace hone::device::cpu
