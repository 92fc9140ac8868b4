// Resize: PyTorch's own upsampling if it is equivalent; otherwise one interpolation for each axis.
#include <ATen/ops/index_select.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/upsample_bicubic2d.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/upsample_nearest2d.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backend/torch/plugin/compat.hpp"
#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/lowering.hpp"

namespace hone::backend::aten {
namespace {

/// One axis of a Resize: its sizes, and ONNX's ratio of output size to input size.
struct AxisScale {
  int64_t axis;
  int64_t in;
  int64_t out;
  double scale;
};

struct ResizeMode {
  std::string kind;         ///< nearest, linear, cubic
  std::string coordinates;  ///< coordinate_transformation_mode
  std::string rounding;     ///< nearest_mode
  double cubic_a;
  bool exclude_outside;
};

/// Length of the result before it is rounded down. align_corners uses it, as in ONNX's reference
/// (test_resize_downsample_scales_linear_align_corners).
double exact_length(const AxisScale& axis) { return axis.scale * static_cast<double>(axis.in); }

/// True if the result has that length, apart from the rounding of a float32 scale.
bool has_exact_length(const AxisScale& axis) {
  const auto out = static_cast<double>(axis.out);
  return std::abs(exact_length(axis) - out) <= out * 0x1p-23;
}

/// The position of output x in the input (ONNX Resize, coordinate_transformation_mode).
double source_coordinate(const ResizeMode& mode, const AxisScale& axis, int64_t x) {
  const auto position = static_cast<double>(x);
  const auto in = static_cast<double>(axis.in);
  const auto out = static_cast<double>(axis.out);
  if (mode.coordinates == "asymmetric") return position / axis.scale;
  if (mode.coordinates == "align_corners") {
    const double length = exact_length(axis);
    return length == 1 ? 0 : position * (in - 1) / (length - 1);
  }
  if (mode.coordinates == "pytorch_half_pixel" && axis.out == 1) return 0;
  if (mode.coordinates == "half_pixel_symmetric") {
    const double adjustment = out / (axis.scale * in);
    return in / 2 * (1 - adjustment) + (position + 0.5) / axis.scale - 0.5;
  }
  return (position + 0.5) / axis.scale - 0.5;
}

int64_t nearest_position(const ResizeMode& mode, double x) {
  if (mode.rounding == "floor") return static_cast<int64_t>(std::floor(x));
  if (mode.rounding == "ceil") return static_cast<int64_t>(std::ceil(x));
  if (mode.rounding == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  return static_cast<int64_t>(std::ceil(x - 0.5));
}

/// Keys' cubic convolution kernel at distance t.
double cubic_weight(double a, double t) {
  t = std::abs(t);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  if (t < 2) return (((t - 5) * t + 8) * t - 4) * a;
  return 0;
}

int64_t clamped(int64_t i, int64_t size) { return std::min(std::max<int64_t>(i, 0), size - 1); }

/// Returns for each output the input element that it copies.
at::Tensor nearest_positions(const ResizeMode& mode, const AxisScale& axis, at::Device device) {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < axis.out; ++i) {
    positions.push_back(clamped(nearest_position(mode, source_coordinate(mode, axis, i)), axis.in));
  }
  return literal(positions, device);
}

/// A matrix whose row i holds the weights of the input elements for output i.
at::Tensor interpolation_matrix(const ResizeMode& mode, const AxisScale& axis) {
  at::Tensor matrix = at::zeros({axis.out, axis.in}, at::TensorOptions().dtype(at::kDouble));
  auto rows = matrix.accessor<double, 2>();
  const int64_t reach = mode.kind == "cubic" ? 2 : 1;
  for (int64_t i = 0; i < axis.out; ++i) {
    double x = source_coordinate(mode, axis, i);
    if (mode.kind == "linear") x = std::min(std::max(x, 0.0), static_cast<double>(axis.in - 1));
    const auto base = static_cast<int64_t>(std::floor(x));
    double total = 0;
    for (int64_t k = base - reach + 1; k <= base + reach; ++k) {
      if (mode.exclude_outside && (k < 0 || k >= axis.in)) continue;
      const double distance = x - static_cast<double>(k);
      const double weight =
          mode.kind == "cubic" ? cubic_weight(mode.cubic_a, distance) : std::max(0.0, 1 - std::abs(distance));
      rows[i][clamped(k, axis.in)] += weight;
      total += weight;
    }
    if (!mode.exclude_outside) continue;
    for (int64_t k = 0; k < axis.in; ++k) rows[i][k] /= total;
  }
  return matrix;
}

Operation resize_by_axis(const ResizeMode& mode, const std::vector<AxisScale>& axes,
                         const Lowering& lowering) {
  if (mode.kind == "nearest") {
    std::vector<at::Tensor> positions;
    for (const AxisScale& axis : axes) positions.push_back(nearest_positions(mode, axis, lowering.device()));
    return single([axes, positions](const Arguments& in) {
      at::Tensor result = in[0];
      for (size_t i = 0; i < axes.size(); ++i) {
        result = at::index_select(result, axes[i].axis, positions[i]);
      }
      return result;
    });
  }
  std::vector<at::Tensor> matrices;
  for (const AxisScale& axis : axes) {
    const at::Tensor matrix = interpolation_matrix(mode, axis).t().contiguous();
    matrices.push_back(matrix.to(lowering.device(), lowering.output_type(0)));
  }
  return single([axes, matrices](const Arguments& in) {
    at::Tensor result = in[0];
    for (size_t i = 0; i < axes.size(); ++i) {
      result = at::matmul(result.movedim(axes[i].axis, -1), matrices[i]).movedim(-1, axes[i].axis);
    }
    return result;
  });
}

/// The call of torch.nn.functional.interpolate for the last two axes of four; empty if there is none.
Operation native_resize(const ResizeMode& mode, const AxisScale& rows, const AxisScale& columns) {
  const std::vector<int64_t> size{rows.out, columns.out};
  const Optional<double> h = rows.scale, w = columns.scale;
  if (mode.kind == "nearest" && mode.coordinates == "asymmetric" && mode.rounding == "floor") {
    return single([=](const Arguments& in) { return at::upsample_nearest2d(in[0], size, h, w); });
  }
  const bool corners = mode.coordinates == "align_corners";
  const bool half = mode.coordinates == "half_pixel" ||
                    (mode.coordinates == "pytorch_half_pixel" && rows.out > 1 && columns.out > 1);
  if (!corners && !half) return {};
  if (corners && !(has_exact_length(rows) && has_exact_length(columns))) return {};
  if (mode.kind == "linear") {
    return single([=](const Arguments& in) { return at::upsample_bilinear2d(in[0], size, corners, h, w); });
  }
  if (mode.kind == "cubic" && mode.cubic_a == -0.75 && !mode.exclude_outside) {
    return single([=](const Arguments& in) { return at::upsample_bicubic2d(in[0], size, corners, h, w); });
  }
  return {};
}

std::vector<AxisScale> resized_axes(const Lowering& lowering) {
  const graph::TensorType& in = lowering.graph.value(lowering.node.input(0)).type;
  const graph::TensorType& out = lowering.graph.value(lowering.node.output(0)).type;
  if (!in.fully_known() || !out.fully_known()) lowering.refuse("its sizes depend on data");
  std::vector<int64_t> every(in.dims->size());
  std::iota(every.begin(), every.end(), 0);
  const std::vector<int64_t> axes = lowering.ints_or("axes", every);
  std::vector<double> scales;
  if (lowering.has(2) && lowering.constant(2) != nullptr) scales = lowering.constant(2)->to_double();
  std::vector<AxisScale> result;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + static_cast<int64_t>(in.dims->size()) : axes[i];
    const int64_t from = in.dims->at(static_cast<size_t>(axis)).value();
    const int64_t to = out.dims->at(static_cast<size_t>(axis)).value();
    const double scale = i < scales.size() ? scales[i] : static_cast<double>(to) / static_cast<double>(from);
    if (from != to || scale != 1) result.push_back({axis, from, to, scale});
  }
  return result;
}

Operation resize(const Lowering& lowering) {
  const graph::Attributes& attributes = lowering.attributes();
  const ResizeMode mode{attributes.get_string("mode"),
                        attributes.get_string("coordinate_transformation_mode"),
                        attributes.get_string("nearest_mode"), attributes.get_float("cubic_coeff_a"),
                        attributes.get_int("exclude_outside") != 0};
  if (mode.coordinates == "tf_crop_and_resize") lowering.refuse("tf_crop_and_resize is not covered");
  if (attributes.get_int("antialias") != 0) lowering.refuse("antialias is not covered");
  if (attributes.get_string("keep_aspect_ratio_policy") != "stretch") {
    lowering.refuse("keep_aspect_ratio_policy is not covered");
  }
  const std::vector<AxisScale> axes = resized_axes(lowering);
  const bool image = axes.size() == 2 && axes[0].axis == 2 && axes[1].axis == 3 &&
                     lowering.graph.value(lowering.node.input(0)).type.dims->size() == 4;
  if (image) {
    if (Operation native = native_resize(mode, axes[0], axes[1])) return native;
  }
  return resize_by_axis(mode, axes, lowering);
}

constexpr LowerEntry kLowerings[] = {{"Resize", resize}};

}  // namespace

std::span<const LowerEntry> resize_lowerings() { return kLowerings; }

}  // namespace hone::backend::aten
