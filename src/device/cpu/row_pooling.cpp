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
      // The first output whose tap is inside, and the end of those.
      const int64_t shift = axis_.pad_begin - tap * axis_.dilation;
      const int64_t first = shift > 0 ? (shift + axis_.stride - 1) / axis_.stride : 0;
      const int64_t last = axis_.input - 1 + shift;
      const int64_t end = last < 0 ? 0 : std::min(axis_.output, last / axis_.stride + 1);
      if (first >= end) continue;
      const float* from = x + first * axis_.stride - shift;
      (average ? add_tap : raise_by_tap)(from, axis_.stride, y + first, end - first);
    }
    if (average) divide(counts_.data(), y, axis_.output);
  }

  graph::WindowAxis axis_;
  int64_t rows_;
  std::vector<float> counts_;
};

/// Elements of the window at output `o` from `before` the input to `behind` it.
int64_t taps_within(const graph::WindowAxis& axis, int64_t o, int64_t before, int64_t behind) {
  int64_t count = 0;
  for (int64_t tap = 0; tap < axis.kernel; ++tap) {
    const int64_t position = axis.position(o, tap);
    if (position >= -before && position < axis.input + behind) ++count;
  }
  return count;
}

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
    if (taps_within(axis, o, 0, 0) == 0) return Offer::refuse("a window of padding alone");
    if (!average) continue;
    counts.push_back(static_cast<float>(include ? taps_within(axis, o, axis.pad_begin, axis.pad_end)
                                                : taps_within(axis, o, 0, 0)));
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
