// See convolution_core.hpp.
//
// A plane is computed tap by tap: for each input channel and each position in the kernel, one weight times a
// shifted row of the input is added to every row of the plane. The innermost loop runs along the last spatial
// axis, which is contiguous in both.
#include "reference/kernels/convolution_core.hpp"

#include <algorithm>
#include <vector>

namespace hone::reference {
namespace {

using graph::Convolution;
using graph::Range;
using graph::WindowAxis;

/// An input row and the output row to which one tap of all axes but the last adds it.
struct RowPair {
  int64_t input;
  int64_t output;
};

/// A convolution by rows: all spatial axes but the last enumerate rows.
struct Plan {
  WindowAxis last;
  int64_t input_plane = 1;
  int64_t output_plane = 1;
  /// For each tap of the outer axes, in row-major order, its pairs of rows.
  std::vector<std::vector<RowPair>> rows;
  /// For each tap of the last axis, the outputs for which it lies inside the input.
  std::vector<Range> columns;

  int64_t taps() const { return static_cast<int64_t>(rows.size() * columns.size()); }
};

/// Extends every pair by one more axis.
std::vector<std::vector<RowPair>> add_axis(const std::vector<std::vector<RowPair>>& outer,
                                           const WindowAxis& axis) {
  std::vector<std::vector<RowPair>> result;
  for (const auto& pairs : outer) {
    for (int64_t tap = 0; tap < axis.kernel; ++tap) {
      const Range range = outputs_inside(axis, tap);
      auto& joined = result.emplace_back();
      for (const RowPair& pair : pairs) {
        for (int64_t o = range.begin; o < range.end; ++o) {
          joined.push_back({pair.input * axis.input + axis.position(o, tap), pair.output * axis.output + o});
        }
      }
    }
  }
  return result;
}

/// If a plane is only read point by point, it is treated as one long row.
std::vector<WindowAxis> merge_pointwise(const std::vector<WindowAxis>& axes) {
  const bool pointwise = std::all_of(axes.begin(), axes.end(), [](const auto& a) { return a.pointwise(); });
  if (!pointwise) return axes;
  WindowAxis merged{.input = 1, .output = 1};
  for (const WindowAxis& axis : axes) merged.input *= axis.input;
  merged.output = merged.input;
  return {merged};
}

/// `weightless`: without weights nothing is summed, so a window may have any size.
Plan make_plan(const Convolution& conv, bool weightless) {
  const auto axes = merge_pointwise(conv.axes);
  Plan plan{.last = axes.back(), .rows = {{{0, 0}}}};
  for (const WindowAxis& axis : axes) {
    plan.input_plane *= axis.input;
    plan.output_plane *= axis.output;
  }
  if (weightless) return plan;
  for (size_t i = 0; i + 1 < axes.size(); ++i) plan.rows = add_axis(plan.rows, axes[i]);
  for (int64_t tap = 0; tap < plan.last.kernel; ++tap) plan.columns.push_back(outputs_inside(plan.last, tap));
  return plan;
}

/// y[i * y_step] += w * x[i * x_step]
void add_scaled(double* y, int64_t y_step, const double* x, int64_t x_step, double w, int64_t n) {
  if (y_step == 1 && x_step == 1) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] += w * x[i];
    return;
  }
  for (int64_t i = 0; i < n; ++i) y[i * y_step] += w * x[i * x_step];
}

/// Number of channels that are added in one pass over a plane, so that the plane's sums are read and written
/// only once for all of them.
constexpr int64_t kChannelBlock = 4;

/// y[i] += the block's weights times its rows, which are `plane` elements apart.
void add_block(double* y, const double* x, int64_t plane, int64_t x_step, const double* w, int64_t w_step,
               int64_t n) {
  const double w0 = w[0];
  const double w1 = w[w_step];
  const double w2 = w[2 * w_step];
  const double w3 = w[3 * w_step];
  const double* x1 = x + plane;
  const double* x2 = x1 + plane;
  const double* x3 = x2 + plane;
  if (x_step == 1) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] += (w0 * x[i] + w1 * x1[i]) + (w2 * x2[i] + w3 * x3[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = i * x_step;
    y[i] += (w0 * x[at] + w1 * x1[at]) + (w2 * x2[at] + w3 * x3[at]);
  }
}

/// Adds the contribution of a block of channels, or of one; `w` holds the weights of all taps per channel.
void add_channels(const Plan& plan, bool block, const double* x, const double* w, double* y) {
  const int64_t step = plan.taps();
  for (const auto& pairs : plan.rows) {
    for (int64_t tap = 0; tap < plan.last.kernel; ++tap, ++w) {
      const Range columns = plan.columns[static_cast<size_t>(tap)];
      if (columns.size() == 0) continue;
      const int64_t first = plan.last.position(columns.begin, tap);
      for (const RowPair& pair : pairs) {
        double* sums = y + pair.output * plan.last.output + columns.begin;
        const double* row = x + pair.input * plan.last.input + first;
        if (block) {
          add_block(sums, row, plan.input_plane, plan.last.stride, w, step, columns.size());
        } else {
          add_scaled(sums, 1, row, plan.last.stride, *w, columns.size());
        }
      }
    }
  }
}

void add_channel_transposed(const Plan& plan, const double* y, const double* w, double* x) {
  for (const auto& pairs : plan.rows) {
    for (int64_t tap = 0; tap < plan.last.kernel; ++tap, ++w) {
      const Range columns = plan.columns[static_cast<size_t>(tap)];
      if (columns.size() == 0) continue;
      const int64_t first = plan.last.position(columns.begin, tap);
      for (const RowPair& pair : pairs) {
        add_scaled(x + pair.input * plan.last.input + first, plan.last.stride,
                   y + pair.output * plan.last.output + columns.begin, 1, *w, columns.size());
      }
    }
  }
}

}  // namespace

void convolve(const Convolution& conv, std::span<const double> x, std::span<const double> w,
              const StorePlane& store) {
  const Plan plan = make_plan(conv, w.empty());
  const int64_t inputs = conv.group_inputs();
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t n = 0; n < conv.batch; ++n) {
    for (int64_t m = 0; m < conv.out_channels; ++m) {
      std::vector<double> plane(static_cast<size_t>(plan.output_plane), 0.0);
      const int64_t first = m / conv.group_outputs() * inputs;
      for (int64_t c = 0; c < inputs;) {
        const bool block = c + kChannelBlock <= inputs;
        add_channels(plan, block, x.data() + (n * conv.in_channels + first + c) * plan.input_plane,
                     w.data() + (m * inputs + c) * plan.taps(), plane.data());
        c += block ? kChannelBlock : 1;
      }
      store(n, m, plane);
    }
  }
}

void convolve_transposed(const Convolution& conv, std::span<const double> y, std::span<const double> w,
                         const StorePlane& store) {
  const Plan plan = make_plan(conv, w.empty());
  const int64_t inputs = conv.group_inputs();
  const int64_t outputs = conv.group_outputs();
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t n = 0; n < conv.batch; ++n) {
    for (int64_t c = 0; c < conv.in_channels; ++c) {
      std::vector<double> plane(static_cast<size_t>(plan.input_plane), 0.0);
      const int64_t first = c / inputs * outputs;
      for (int64_t m = first; m < first + outputs; ++m) {
        add_channel_transposed(plan, y.data() + (n * conv.out_channels + m) * plan.output_plane,
                               w.data() + (m * inputs + c % inputs) * plan.taps(), plane.data());
      }
      store(n, c, plane);
    }
  }
}

}  // namespace hone::reference
