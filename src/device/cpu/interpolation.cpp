// Resize by interpolation, one axis after the other: each output position is a weighted sum of input
// positions. Along the innermost axis, positions are gathered; along another one, whole rows are added, such
// as those of images whose channels lie innermost.
#include <algorithm>
#include <numeric>

#include "device/cpu/clones.hpp"
#include "device/cpu/ranges.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/resize_taps.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;

constexpr int64_t kWorthThreads = 1 << 15;

HONE_CLONES void scaled_row(const float* x, float weight, float* y, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) y[i] = weight * x[i];
}

HONE_CLONES void add_scaled_row(const float* x, float weight, float* y, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) y[i] += weight * x[i];
}

HONE_CLONES void blend_rows(const float* a, const float* b, float of_a, float of_b, float* y, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) y[i] = of_a * a[i] + of_b * b[i];
}

/// y[i] = sum over k of weights[k * n + i] * x[positions[k * n + i]].
HONE_CLONES void gather_row(const float* x, const int32_t* positions, const float* weights, size_t taps,
                            float* y, size_t n) {
  if (taps == 2) {
#pragma omp simd
    for (size_t i = 0; i < n; ++i) y[i] = weights[i] * x[positions[i]] + weights[n + i] * x[positions[n + i]];
    return;
  }
  for (size_t i = 0; i < n; ++i) y[i] = 0;
  for (size_t k = 0; k < taps; ++k) {
#pragma omp simd
    for (size_t i = 0; i < n; ++i) y[i] += weights[k * n + i] * x[positions[k * n + i]];
  }
}

/// One axis: positions and weights of tap k at [k * output + o]; taps that are missing weigh 0.
struct AxisPass {
  int64_t outer = 1;
  int64_t input = 1;
  int64_t output = 1;
  int64_t inner = 1;
  size_t taps = 0;
  std::vector<int32_t> positions;
  std::vector<float> weights;

  AxisPass(int64_t outer, int64_t input, int64_t inner, const std::vector<graph::ResizeTaps>& read)
      : outer(outer), input(input), output(static_cast<int64_t>(read.size())), inner(inner) {
    for (const graph::ResizeTaps& at : read) taps = std::max(taps, at.positions.size());
    positions.resize(taps * read.size());
    weights.resize(taps * read.size());
    for (size_t o = 0; o < read.size(); ++o) {
      for (size_t k = 0; k < read[o].positions.size(); ++k) {
        positions[k * read.size() + o] = static_cast<int32_t>(read[o].positions[k]);
        weights[k * read.size() + o] = static_cast<float>(read[o].weights[k]);
      }
    }
  }

  int64_t elements() const { return outer * output * inner; }

  void run(const float* x, float* y) const {
    const bool parallel = elements() > kWorthThreads;
    if (inner == 1) {
      return in_ranges(outer, parallel, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          gather_row(x + i * input, positions.data(), weights.data(), taps, y + i * output,
                     static_cast<size_t>(output));
        }
      });
    }
    in_ranges(outer * output, parallel, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        make_row(x + row / output * input * inner, static_cast<size_t>(row % output), y + row * inner);
    });
  }

 private:
  void make_row(const float* x, size_t o, float* y) const {
    const auto n = static_cast<size_t>(inner);
    const auto count = static_cast<size_t>(output);
    const auto row = [&](size_t k) { return x + positions[k * count + o] * inner; };
    if (taps == 2) return blend_rows(row(0), row(1), weights[o], weights[count + o], y, n);
    scaled_row(row(0), weights[o], y, n);
    for (size_t k = 1; k < taps; ++k) add_scaled_row(row(k), weights[k * count + o], y, n);
  }
};

class InterpolationKernel final : public engine::Kernel {
 public:
  explicit InterpolationKernel(std::vector<AxisPass> passes) : passes_(std::move(passes)) {}

  /// Elements of the results between the axes, which take turns in two buffers.
  static int64_t scratch_elements(const std::vector<AxisPass>& passes) {
    int64_t most = 0;
    for (size_t i = 0; i + 1 < passes.size(); ++i) most = std::max(most, passes[i].elements());
    return 2 * most;
  }

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const float*>(run.inputs[0]);
    auto* scratch = static_cast<float*>(run.scratch);
    const int64_t half = scratch_elements(passes_) / 2;
    for (size_t i = 0; i < passes_.size(); ++i) {
      float* y =
          i + 1 == passes_.size() ? static_cast<float*>(run.outputs[0]) : scratch + (i % 2 == 0 ? 0 : half);
      passes_[i].run(x, y);
      x = y;
    }
  }

 private:
  std::vector<AxisPass> passes_;
};

/// The lengths of the axes in the order in which they lie: a group of channels is the last one.
Shape lying(const Shape& shape, Layout layout) {
  if (layout == Layout::kPlain) return shape;
  const int64_t block = layout == Layout::kChannelsLast ? shape[1] : engine::layout_block(layout);
  Shape axes = shape;
  axes[1] = (shape[1] + block - 1) / block;
  axes.push_back(block);
  return axes;
}

Refusal read_passes(const StepRequest& request, Layout layout, std::vector<AxisPass>& passes) {
  const graph::ResizeOptions options(request.node.attributes);
  if (options.mode == "nearest") return "nearest neighbours are copied";
  const auto numbers = [&](size_t i) -> std::optional<std::vector<double>> {
    const tensor::Tensor* values = request.graph.constant(request.node.inputs[i]);
    if (values->size() == 0) return std::nullopt;
    return values->to_double();
  };
  graph::ResizeInputs inputs;
  for (size_t i = 1; i < 4; ++i) {
    if (!request.node.has_input(i)) continue;
    if (request.graph.constant(request.node.inputs[i]) == nullptr) return "the sizes are computed";
    const auto values = numbers(i);
    if (i == 1) inputs.roi = values;
    if (i == 2) inputs.scales = values;
    if (i == 3 && values) inputs.sizes = request.graph.constant(request.node.inputs[3])->to_int64();
  }
  Shape shape = request.inputs[0].shape;
  const auto axes = read_resize(request.node.attributes, shape, inputs);
  for (size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].is_identity()) continue;
    if (k < 2 && layout != Layout::kPlain) return "its channels or images are resized";
    const auto taps = graph::resize_taps(options, axes[k]);
    if (std::any_of(taps.begin(), taps.end(), [](const auto& at) { return at.positions.empty(); }))
      return "positions outside of the input are extrapolated";
    const Shape lengths = lying(shape, layout);
    const auto begin = lengths.begin();
    const auto at = begin + static_cast<std::ptrdiff_t>(k);
    const int64_t outer = std::accumulate(begin, at, int64_t{1}, std::multiplies<>());
    const int64_t inner = std::accumulate(at + 1, lengths.end(), int64_t{1}, std::multiplies<>());
    passes.emplace_back(outer, shape[k], inner, taps);
    shape[k] = axes[k].output;
  }
  if (passes.empty()) return "nothing is resized";
  return {};
}

Offer offer_interpolation(const StepRequest& request, bool plain) {
  const Layout images = engine::layout_for_shape(request.layout, request.inputs[0].shape);
  if (!plain && images == Layout::kPlain) return Offer::refuse("images are plain here");
  const Layout layout = plain ? Layout::kPlain : images;
  std::vector<AxisPass> passes;
  if (Refusal reason = read_passes(request, layout, passes)) return Offer::refuse(std::move(reason));
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[0] = {tensor::DType::kFloat32, request.inputs[0].shape, layout};
  offer.outputs = request.outputs;
  offer.outputs[0].layout = layout;
  offer.scratch_bytes = InterpolationKernel::scratch_elements(passes) * static_cast<int64_t>(sizeof(float));
  offer.kernel = std::make_shared<InterpolationKernel>(std::move(passes));
  return offer;
}

}  // namespace

void add_interpolation_tactics(TacticList& list) {
  for (const auto& [name, plain] :
       {std::pair("interpolation", false), std::pair("interpolation_plain", true)}) {
    list.push_back({.name = name,
                    .operators = {"Resize"},
                    .requirements = {engine::only_float32, engine::nonempty_output, engine::nonempty_input},
                    .make = [plain = plain](const StepRequest& request, engine::WeightStore&) {
                      return offer_interpolation(request, plain);
                    }});
  }
}

}  // namespace hone::device::cpu
