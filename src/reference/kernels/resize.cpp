// Reference kernel of the convolution family: Resize, one axis after the other. Interpolation is separable:
// on each axis an output position is a weighted sum of input positions.
//
// Sources: ONNX operator specification of Resize (opset 19); R. Keys, "Cubic convolution interpolation for
// digital image processing", 1981, equation (4).
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "graph/resize_geometry.hpp"
#include "reference/kernels/convolution_family.hpp"
#include "reference/kernels/cubic.hpp"
#include "reference/kernels/rounding.hpp"

namespace hone::reference {
namespace {

using graph::ResizeAxis;

/// What one output position of an axis reads; no taps: the extrapolation value.
struct Taps {
  std::vector<int64_t> positions;
  std::vector<double> weights;
};

struct Options {
  std::string mode;
  std::string nearest;
  std::string coordinates;
  bool antialias;
  bool exclude_outside;
  double cubic;
  double extrapolation;

  explicit Options(const graph::Attributes& attributes)
      : mode(attributes.get_string("mode")),
        nearest(attributes.get_string("nearest_mode")),
        coordinates(attributes.get_string("coordinate_transformation_mode")),
        antialias(attributes.get_int("antialias") != 0),
        exclude_outside(attributes.get_int("exclude_outside") != 0),
        cubic(attributes.get_float("cubic_coeff_a")),
        extrapolation(attributes.get_float("extrapolation_value")) {}
};

std::optional<std::vector<double>> values(const KernelContext& context, size_t i) {
  if (!context.has_input(i) || context.input(i).size() == 0) return std::nullopt;
  return context.input(i).to_double();
}

std::vector<ResizeAxis> read_axes(const KernelContext& context) {
  graph::ResizeInputs inputs{values(context, 1), values(context, 2), std::nullopt};
  if (values(context, 3)) inputs.sizes = context.input(3).to_int64();
  return read_resize(context.attributes(), context.input(0).shape(), inputs);
}

double nearest_position(const std::string& mode, double x) {
  if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  return mode == "floor" ? std::floor(x) : std::ceil(x);
}

bool is_extrapolated(const Options& options, const ResizeAxis& axis, double x) {
  return options.coordinates == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(axis.input - 1));
}

/// The filter's footprint around `x`, stretched where antialiasing shrinks the image; weights sum to 1.
Taps interpolation_taps(const Options& options, const ResizeAxis& axis, double x) {
  const bool cubic = options.mode == "cubic";
  const double stretch = options.antialias ? std::min(1.0, axis.scale) : 1.0;
  const double radius = std::ceil((cubic ? 2 : 1) / stretch);
  Taps taps;
  double sum = 0;
  for (double i = std::floor(x) - radius + 1; i <= std::floor(x) + radius; ++i) {
    const double distance = (i - x) * stretch;
    double weight = cubic ? cubic_weight(distance, options.cubic) : std::max(0.0, 1 - std::abs(distance));
    const double clamped = std::clamp(i, 0.0, static_cast<double>(axis.input - 1));
    if (options.exclude_outside && clamped != i) weight = 0;
    taps.positions.push_back(static_cast<int64_t>(clamped));
    taps.weights.push_back(weight);
    sum += weight;
  }
  if (sum == 0 || !(options.antialias || options.exclude_outside)) return taps;
  for (double& weight : taps.weights) weight /= sum;
  return taps;
}

Taps taps_at(const Options& options, const ResizeAxis& axis, int64_t o) {
  const double x = resize_coordinate(options.coordinates, axis, o);
  if (is_extrapolated(options, axis, x) || !std::isfinite(x)) return {};
  if (options.mode != "nearest") return interpolation_taps(options, axis, x);
  const double nearest =
      std::clamp(nearest_position(options.nearest, x), 0.0, static_cast<double>(axis.input - 1));
  return {{static_cast<int64_t>(nearest)}, {1.0}};
}

std::vector<Taps> axis_taps(const Options& options, const ResizeAxis& axis) {
  std::vector<Taps> result;
  for (int64_t o = 0; o < axis.output; ++o) result.push_back(taps_at(options, axis, o));
  return result;
}

/// An axis that every output position reads unchanged.
bool is_identity(const ResizeAxis& axis) {
  return axis.input == axis.output && axis.scale == 1 && axis.roi_start == 0 && axis.roi_end == 1;
}

/// Resizes axis `k` of a row-major tensor of `shape`, which becomes the new shape.
std::vector<double> resize_axis(const std::vector<double>& x, Shape& shape, size_t k,
                                const std::vector<Taps>& taps, double extrapolation) {
  int64_t inner = 1;
  for (size_t i = k + 1; i < shape.size(); ++i) inner *= shape[i];
  int64_t outer = 1;
  for (size_t i = 0; i < k; ++i) outer *= shape[i];
  const int64_t input = shape[k];
  shape[k] = static_cast<int64_t>(taps.size());
  std::vector<double> y(static_cast<size_t>(tensor::element_count(shape)), 0.0);
  for (int64_t i = 0; i < outer; ++i) {
    for (size_t o = 0; o < taps.size(); ++o) {
      double* row = y.data() + (i * shape[k] + static_cast<int64_t>(o)) * inner;
      if (taps[o].positions.empty()) std::fill(row, row + inner, extrapolation);
      for (size_t t = 0; t < taps[o].positions.size(); ++t) {
        const double* from = x.data() + (i * input + taps[o].positions[t]) * inner;
        for (int64_t j = 0; j < inner; ++j) row[j] += taps[o].weights[t] * from[j];
      }
    }
  }
  return y;
}

/// Nearest neighbours are copied, so that every type keeps its exact values.
void resize_nearest(const Tensor& x, Tensor& y, const std::vector<std::vector<Taps>>& taps,
                    double extrapolation) {
  const Shape in = tensor::row_major_strides(x.shape());
  const Shape out = tensor::row_major_strides(y.shape());
  tensor::visit_dtype(x.dtype(), [&]<class T>() {
    const auto from = x.values<T>();
    const auto to = y.mutable_values<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      int64_t offset = 0;
      bool inside = true;
      for (size_t k = 0; k < taps.size() && inside; ++k) {
        const Taps& at = taps[k][static_cast<size_t>(static_cast<int64_t>(i) / out[k] % y.shape()[k])];
        inside = !at.positions.empty();
        if (inside) offset += at.positions[0] * in[k];
      }
      to[i] = inside ? from[static_cast<size_t>(offset)] : tensor::convert<T>(extrapolation);
    }
  });
}

void resize_interpolated(const Tensor& x, Tensor& y, const std::vector<ResizeAxis>& axes,
                         const std::vector<std::vector<Taps>>& taps, double extrapolation) {
  Shape shape = x.shape();
  std::vector<double> data = x.to_double();
  for (size_t k = 0; k < axes.size(); ++k) {
    if (!is_identity(axes[k])) data = resize_axis(data, shape, k, taps[k], extrapolation);
  }
  store_rounded(y, data);
}

}  // namespace

void resize(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Options options(context.attributes());
  const std::vector<ResizeAxis> axes = read_axes(context);
  Shape shape;
  for (const ResizeAxis& axis : axes) shape.push_back(axis.output);
  Tensor& y = context.make_output(0, x.dtype(), std::move(shape));
  if (y.size() == 0) return;
  if (x.size() == 0) fail_bad_input("input 0 is empty");
  std::vector<std::vector<Taps>> taps;
  for (const ResizeAxis& axis : axes) taps.push_back(axis_taps(options, axis));
  if (options.mode == "nearest") return resize_nearest(x, y, taps, options.extrapolation);
  resize_interpolated(x, y, axes, taps, options.extrapolation);
}

}  // namespace hone::reference
