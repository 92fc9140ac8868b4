// MaxPool and AveragePool of images that lie row by row, for which oneDNN often has only its reference
// implementation: the rows that a row of outputs reads are folded into one, then that tap by tap, all outputs
// at once.
#include "device/cpu/row_pooling.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
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

/// y[o] /= rows * counts[o]
HONE_CLONES void divide(float rows, const float* counts, float* y, int64_t n) {
  for (int64_t o = 0; o < n; ++o) y[o] /= rows * counts[o];
}

constexpr size_t kAxes = 3;
/// The missing ones first.
using Axes = std::array<graph::WindowAxis, kAxes>;
/// The numbers that a window of an average has along each axis, by its place; empty for a maximum.
using Counts = std::array<std::vector<float>, kAxes>;

class RowPoolKernel final : public engine::Kernel {
 public:
  /// `images` have one channel each.
  RowPoolKernel(const Axes& axes, int64_t images, Counts counts)
      : axes_(axes), images_(images), counts_(std::move(counts)), threads_(omp_get_max_threads()) {}

  int64_t scratch_bytes() const { return threads_ * width() * int64_t{sizeof(float)}; }

  void run(const engine::Run& run) const override {
    const int64_t rows = images_ * axes_[0].output * axes_[1].output;
    const int64_t taps = axes_[0].kernel * axes_[1].kernel + axes_[2].kernel;
    in_shares(rows, threads_, rows * axes_[2].output * taps > kWorthThreads,
              [&](int64_t begin, int64_t end, int64_t thread) {
                float* const folded = static_cast<float*>(run.scratch) + thread * width();
                for (int64_t row = begin; row < end; ++row) {
                  pool(static_cast<const float*>(run.inputs[0]), row, folded,
                       static_cast<float*>(run.outputs[0]) + row * axes_[2].output);
                }
              });
  }

 private:
  int64_t width() const { return axes_[2].input; }
  bool is_average() const { return !counts_[0].empty(); }

  void pool(const float* images, int64_t row, float* folded, float* y) const {
    const int64_t above = row / axes_[1].output % axes_[0].output;
    const int64_t down = row % axes_[1].output;
    const float* const image =
        images + row / (axes_[0].output * axes_[1].output) * axes_[0].input * axes_[1].input * width();
    const float* const x = fold_rows(image, above, down, folded);
    std::fill_n(y, axes_[2].output, is_average() ? 0 : -std::numeric_limits<float>::infinity());
    for (int64_t tap = 0; tap < axes_[2].kernel; ++tap) {
      const graph::Range outputs = graph::outputs_inside(axes_[2], tap);
      if (outputs.size() == 0) continue;
      const float* const from = x + axes_[2].position(outputs.begin, tap);
      (is_average() ? add_tap : raise_by_tap)(from, axes_[2].stride, y + outputs.begin, outputs.size());
    }
    if (!is_average()) return;
    const float rows = counts_[0][static_cast<size_t>(above)] * counts_[1][static_cast<size_t>(down)];
    divide(rows, counts_[2].data(), y, axes_[2].output);
  }

  /// The sum or the maximum of the rows in a window; a single one stays where it is.
  const float* fold_rows(const float* image, int64_t above, int64_t down, float* folded) const {
    const graph::Range planes = graph::taps_inside(axes_[0], above);
    const graph::Range rows = graph::taps_inside(axes_[1], down);
    const auto at = [&](int64_t i, int64_t j) {
      return image + (axes_[0].position(above, i) * axes_[1].input + axes_[1].position(down, j)) * width();
    };
    const float* const first = at(planes.begin, rows.begin);
    if (planes.size() * rows.size() == 1) return first;
    std::copy_n(first, width(), folded);
    for (int64_t i = planes.begin; i < planes.end; ++i) {
      for (int64_t j = rows.begin; j < rows.end; ++j) {
        if (i == planes.begin && j == rows.begin) continue;
        (is_average() ? add_tap : raise_by_tap)(at(i, j), 1, folded, width());
      }
    }
    return folded;
  }

  Axes axes_;
  int64_t images_;
  Counts counts_;
  int64_t threads_;
};

Offer offer_row_pool(const StepRequest& request, engine::WeightStore&) {
  const graph::Node& node = request.node;
  if (node.has_output(1)) return Offer::refuse("the indices are wanted");
  const Shape& shape = request.inputs[0].shape;
  const graph::Window window = graph::read_window(node.attributes, node.attributes.get_ints("kernel_shape"));
  const auto given = graph::resolve_window(window, std::span(shape).subspan(2));
  const bool average = node.op == "AveragePool";
  const bool include = average && node.attributes.get_int("count_include_pad") != 0;
  Axes axes;
  axes.fill({1, 1});
  std::ranges::copy(given, axes.end() - std::ssize(given));
  Counts counts;
  for (size_t i = 0; i < kAxes; ++i) {
    const graph::WindowAxis& axis = axes[i];
    for (int64_t o = 0; o < axis.output; ++o) {
      const int64_t inside = graph::taps_inside(axis, o).size();
      if (inside == 0) return Offer::refuse("a window of padding alone");
      if (!average) continue;
      const int64_t counted =
          include ? graph::taps_inside(axis, o, axis.pad_begin, axis.pad_end).size() : inside;
      counts[i].push_back(static_cast<float>(counted));
    }
  }
  auto kernel = std::make_shared<RowPoolKernel>(axes, shape[0] * shape[1], std::move(counts));
  Offer offer;
  offer.inputs = {{DType::kFloat32, shape, Layout::kPlain}};
  offer.outputs = {{DType::kFloat32, request.outputs[0].shape, Layout::kPlain}};
  offer.outputs.resize(request.outputs.size());
  offer.scratch_bytes = kernel->scratch_bytes();
  offer.kernel = std::move(kernel);
  return offer;
}

}  // namespace

void add_row_pooling_tactics(TacticList& list) {
  list.push_back({.name = "row_pooling",
                  .operators = {"MaxPool", "AveragePool"},
                  .requirements = {engine::only_float32, engine::one_to_three_axes, engine::nonempty_input,
                                   engine::nonempty_output},
                  .make = offer_row_pool});
}

}  // namespace hone::device::cpu
