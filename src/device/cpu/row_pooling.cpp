// MaxPool and AveragePool along one axis, for which oneDNN has only its reference implementation: tap by tap,
// all outputs of a row at once.
#include "device/cpu/row_pooling.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "device/cpu/clones.hpp"
#include "device/cpu/ranges.hpp"
#include "engine/requirements.hpp"
#include "graph/convolution_geometry.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using tensor::DType;

/// Elements that are worth starting threads for.
constexpr int64_t kWorthThreads = 1 << 16;

/// y[o] += x[o * stride]
HONE_CLONES void add_tap(const float* x, int64_t stride, float* y, int64_t n) {
  if (stride == 1) {
    for (int64_t o = 0; o < n; ++o) y[o] += x[o];
  } else if (stride == 2) {
    for (int64_t o = 0; o < n; ++o) y[o] += x[2 * o];
  } else {
    for (int64_t o = 0; o < n; ++o) y[o] += x[stride * o];
  }
}

HONE_INLINE float larger(float a, float b) { return b > a || b != b ? b : a; }

/// The larger of y[o] and x[o * stride], NaN above all.
HONE_CLONES void raise_by_tap(const float* x, int64_t stride, float* y, int64_t n) {
  if (stride == 1) {
    for (int64_t o = 0; o < n; ++o) y[o] = larger(y[o], x[o]);
  } else if (stride == 2) {
    for (int64_t o = 0; o < n; ++o) y[o] = larger(y[o], x[2 * o]);
  } else {
    for (int64_t o = 0; o < n; ++o) y[o] = larger(y[o], x[stride * o]);
  }
}

HONE_CLONES void divide(const float* counts, float* y, int64_t n) {
  for (int64_t o = 0; o < n; ++o) y[o] /= counts[o];
}

class RowPoolKernel final : public engine::Kernel {
 public:
  /// `counts`: of an average, what the sum of each output is divided by; empty for a maximum.
  RowPoolKernel(const graph::WindowAxis& axis, int64_t rows, std::vector<float> counts)
      : axis_(axis), rows_(rows), counts_(std::move(counts)) {}

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const float*>(run.inputs[0]);
    auto* y = static_cast<float*>(run.outputs[0]);
    in_ranges(rows_, rows_ * axis_.output * axis_.kernel > kWorthThreads, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) pool(x + row * axis_.input, y + row * axis_.output);
    });
  }

 private:
  void pool(const float* x, float* y) const {
    const bool average = !counts_.empty();
    std::fill_n(y, axis_.output, average ? 0 : -std::numeric_limits<float>::infinity());
    for (int64_t tap = 0; tap < axis_.kernel; ++tap) {
      const graph::Range outputs = graph::outputs_inside(axis_, tap);
      if (outputs.size() == 0) continue;
      const float* from = x + axis_.position(outputs.begin, tap);
      (average ? add_tap : raise_by_tap)(from, axis_.stride, y + outputs.begin, outputs.size());
    }
    if (average) divide(counts_.data(), y, axis_.output);
  }

  graph::WindowAxis axis_;
  int64_t rows_;
  std::vector<float> counts_;
};

Offer offer_row_pool(const StepRequest& request, engine::WeightStore&) {
  const graph::Node& node = request.node;
  if (node.has_output(1)) return Offer::refuse("the indices are wanted");
  const Shape& shape = request.inputs[0].shape;
  if (shape.size() != 3) return Offer::refuse("more than one axis");
  const graph::Window window = graph::read_window(node.attributes, node.attributes.get_ints("kernel_shape"));
  const graph::WindowAxis axis = graph::resolve_window(window, std::span(shape).subspan(2)).front();
  const bool average = node.op == "AveragePool";
  const bool include = average && node.attributes.get_int("count_include_pad") != 0;
  std::vector<float> counts;
  for (int64_t o = 0; o < axis.output; ++o) {
    const int64_t inside = graph::taps_inside(axis, o).size();
    if (inside == 0) return Offer::refuse("a window of padding alone");
    if (!average) continue;
    const int64_t counted =
        include ? graph::taps_inside(axis, o, axis.pad_begin, axis.pad_end).size() : inside;
    counts.push_back(static_cast<float>(counted));
  }
  Offer offer;
  offer.inputs = {{DType::kFloat32, shape, Layout::kPlain}};
  offer.outputs = {{DType::kFloat32, request.outputs[0].shape, Layout::kPlain}};
  offer.outputs.resize(request.outputs.size());
  offer.kernel = std::make_shared<RowPoolKernel>(axis, shape[0] * shape[1], std::move(counts));
  return offer;
}

}  // namespace

void add_row_pooling_tactics(TacticList& list) {
  list.push_back({.name = "row_pooling",
                  .operators = {"MaxPool", "AveragePool"},
                  .requirements = {engine::only_float32, engine::nonempty_input, engine::nonempty_output},
                  .make = offer_row_pool});
}

}  // namespace hone::device::cpu
