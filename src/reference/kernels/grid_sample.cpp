// Reference kernels of the convolution family: GridSample and AffineGrid, for any number of spatial axes.
//
// Sources: ONNX operator specifications of GridSample and AffineGrid; M. Jaderberg et al., "Spatial
// Transformer Networks", 2015.
#include <algorithm>
#include <cmath>

#include "graph/cubic_weight.hpp"
#include "reference/kernels/convolution_family.hpp"
#include "reference/kernels/rounding.hpp"

namespace hone::reference {
namespace {

enum class Padding { kZeros, kBorder, kReflection };

/// The coefficient of bicubic sampling, as in PyTorch.
constexpr double kCubic = -0.75;
/// Outside every position that a tensor can have, but safe to convert to an integer.
constexpr double kFarOutside = -1e15;

/// One spatial axis of the sampled input.
struct SampledAxis {
  int64_t size;
  bool align_corners;
  Padding padding;

  /// Converts [-1, 1] to positions: the ends are pixel centres, or the outer edges of pixels.
  double denormalize(double n) const {
    const auto length = static_cast<double>(size);
    return align_corners ? (n + 1) / 2 * (length - 1) : ((n + 1) * length - 1) / 2;
  }

  /// Mirrors a position at the borders until it lies between them.
  double reflect(double x) const {
    const double low = align_corners ? 0 : -0.5;
    const double span = align_corners ? static_cast<double>(size - 1) : static_cast<double>(size);
    if (span == 0) return 0;
    const double distance = std::fmod(std::abs(x - low), 2 * span);
    return low + (distance > span ? 2 * span - distance : distance);
  }

  /// The position `x` after padding; kFarOutside if it reads nothing.
  double place(double x) const {
    if (padding == Padding::kZeros) return std::abs(x) < -kFarOutside ? x : kFarOutside;
    if (padding == Padding::kReflection) x = reflect(x);
    if (std::isnan(x)) return 0;
    return padding == Padding::kBorder ? std::clamp(x, 0.0, static_cast<double>(size - 1)) : x;
  }

  /// The input index that index `i` reads, or -1 for none.
  int64_t index(double i) const {
    const double placed = place(i);
    if (padding == Padding::kZeros && (placed < 0 || placed >= static_cast<double>(size))) return -1;
    return static_cast<int64_t>(std::clamp(std::nearbyint(placed), 0.0, static_cast<double>(size - 1)));
  }
};

struct Tap {
  int64_t index;
  double weight;
};

std::vector<Tap> axis_taps(const SampledAxis& axis, const std::string& mode, double normalized) {
  double x = axis.denormalize(normalized);
  if (mode == "nearest") return {{axis.index(std::nearbyint(x)), 1.0}};
  const int reach = mode == "cubic" ? 2 : 1;
  // Padding moves the sampled point; the cubic filter's four pixels are padded one by one, as in PyTorch.
  if (reach == 1) x = axis.place(x);
  const double first = std::floor(x);
  std::vector<Tap> taps;
  for (int k = 1 - reach; k <= reach; ++k) {
    const double distance = first + k - x;
    const double weight = reach == 2 ? graph::cubic_weight(distance, kCubic) : 1 - std::abs(distance);
    taps.push_back({axis.index(first + k), weight});
  }
  return taps;
}

/// Sum over the product of all axes' taps, from axis `k` on.
double interpolate(const double* plane, const std::vector<SampledAxis>& axes,
                   const std::vector<std::vector<Tap>>& taps, size_t k, int64_t offset) {
  if (k == axes.size()) return plane[offset];
  double sum = 0;
  for (const Tap& tap : taps[k]) {
    if (tap.index < 0) continue;
    sum += tap.weight * interpolate(plane, axes, taps, k + 1, offset * axes[k].size + tap.index);
  }
  return sum;
}

std::vector<SampledAxis> sampled_axes(const KernelContext& context) {
  const std::string& name = context.attributes().get_string("padding_mode");
  const Padding padding = name == "zeros"    ? Padding::kZeros
                          : name == "border" ? Padding::kBorder
                                             : Padding::kReflection;
  const bool align_corners = context.attributes().get_int("align_corners") != 0;
  const Shape& shape = context.input(0).shape();
  std::vector<SampledAxis> axes;
  for (size_t i = 2; i < shape.size(); ++i) axes.push_back({shape[i], align_corners, padding});
  return axes;
}

}  // namespace

void grid_sample(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& grid = context.input(1);
  const auto rank = static_cast<size_t>(x.rank());
  if (rank < 3 || grid.shape().size() != rank || grid.shape()[0] != x.shape()[0] ||
      grid.shape().back() != x.rank() - 2) {
    fail_bad_input("inputs have shapes {} and {}", tensor::shape_text(x.shape()),
                   tensor::shape_text(grid.shape()));
  }
  Shape shape{x.shape()[0], x.shape()[1]};
  shape.insert(shape.end(), grid.shape().begin() + 1, grid.shape().end() - 1);
  Tensor& y = context.make_output(0, x.dtype(), shape);
  if (y.size() == 0) return;
  if (x.size() == 0) fail_bad_input("input 0 is empty");
  const std::string& mode = context.attributes().get_string("mode");
  const auto axes = sampled_axes(context);
  const std::vector<double> data = x.to_double();
  const std::vector<double> points = grid.to_double();
  const int64_t channels = shape[1];
  const int64_t plane = x.size() / shape[0] / channels;
  const int64_t places = y.size() / shape[0] / channels;
  std::vector<double> result(static_cast<size_t>(y.size()));
  for (int64_t at = 0; at < shape[0] * places; ++at) {
    // The last coordinate of a point belongs to the first spatial axis.
    std::vector<std::vector<Tap>> taps;
    for (size_t k = 0; k < axes.size(); ++k) {
      const auto coordinate = static_cast<size_t>(at) * axes.size() + axes.size() - 1 - k;
      taps.push_back(axis_taps(axes[k], mode, points[coordinate]));
    }
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t image = at / places * channels + c;
      result[static_cast<size_t>(image * places + at % places)] =
          interpolate(data.data() + image * plane, axes, taps, 0, 0);
    }
  }
  store_rounded(y, result);
}

void affine_grid(KernelContext& context) {
  const Tensor& theta = context.input(0);
  const std::vector<int64_t> size = context.input(1).to_int64();
  const bool align_corners = context.attributes().get_int("align_corners") != 0;
  if (size.size() != 4 && size.size() != 5) {
    fail_bad_input("input 1 has {} elements, expected 4 or 5", size.size());
  }
  const size_t axes = size.size() - 2;
  const Shape expected{size[0], static_cast<int64_t>(axes), static_cast<int64_t>(axes) + 1};
  if (theta.shape() != expected) {
    fail_bad_input("input 0 has shape {}, expected {}", tensor::shape_text(theta.shape()),
                   tensor::shape_text(expected));
  }
  Shape shape{size[0]};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  const Shape strides = tensor::row_major_strides(Shape(shape.begin() + 1, shape.end()));
  shape.push_back(static_cast<int64_t>(axes));
  Tensor& y = context.make_output(0, theta.dtype(), shape);
  const std::vector<double> matrix = theta.to_double();
  std::vector<double> result(static_cast<size_t>(y.size()));
  const int64_t places = size[0] == 0 ? 0 : y.size() / size[0] / static_cast<int64_t>(axes);
  for (size_t i = 0; i < result.size(); ++i) {
    const auto row = i % axes;
    const auto at = static_cast<int64_t>(i / axes);
    const double* weights = matrix.data() + (static_cast<size_t>(at / places) * axes + row) * (axes + 1);
    double sum = weights[axes];
    for (size_t k = 0; k < axes; ++k) {
      // Coordinates are listed from the innermost axis outwards.
      const size_t axis = axes - 1 - k;
      const auto length = static_cast<double>(shape[axis + 1]);
      const auto position = static_cast<double>(at % places / strides[axis] % shape[axis + 1]);
      const double centre = align_corners ? (length > 1 ? 2 * position / (length - 1) - 1 : 0)
                                          : (2 * position + 1) / length - 1;
      sum += weights[k] * centre;
    }
    result[i] = sum;
  }
  store_rounded(y, result);
}

}  // namespace hone::reference
