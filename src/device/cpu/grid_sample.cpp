// GridSample of images: what each point of the grid reads is worked out once for all channels.
#include <algorithm>
#include <bit>
#include <cmath>

#include "device/cpu/clones.hpp"
#include "device/cpu/ranges.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;

constexpr int64_t kPoints = 256;
constexpr size_t kTaps = 4;
constexpr int64_t kWorthThreads = 1 << 13;
/// Most pixels of a plane: rows and columns are whole numbers in float.
constexpr int64_t kMostPixels = 1 << 24;

enum class Padding : uint8_t { kZeros, kBorder, kReflection };

/// One axis of the image that is sampled.
struct SampledAxis {
  float size;
  bool align_corners;
  Padding padding;

  /// The bounds between which positions are kept. Beside zeros no pixel is read from two before the first one
  /// on.
  float lowest() const { return padding == Padding::kZeros ? -2.0f : 0.0f; }
  float highest() const { return padding == Padding::kZeros ? size + 1 : size - 1; }

  float reflect(float x) const {
    const float low = align_corners ? 0 : -0.5f;
    const float span = align_corners ? size - 1 : size;
    if (span == 0) return 0;
    const float distance = std::fmod(std::abs(x - low), 2 * span);
    return low + (distance > span ? 2 * span - distance : distance);
  }
};

/// Positions of coordinates that lie two apart: from [-1, 1], whose ends are pixel centres or the outer edges
/// of pixels.
HONE_CLONES void locate(const float* coordinates, float size, bool align_corners, float* x, size_t n) {
  if (align_corners) {
    for (size_t i = 0; i < n; ++i) x[i] = (coordinates[2 * i] + 1) / 2 * (size - 1);
    return;
  }
  for (size_t i = 0; i < n; ++i) x[i] = ((coordinates[2 * i] + 1) * size - 1) / 2;
}

/// A NaN goes to the lowest position.
HONE_CLONES void keep_between(float low, float high, float* x, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const float above = x[i] >= low ? x[i] : low;
    x[i] = above <= high ? above : high;
  }
}

/// The reads of some points: some pixels each, with their weights, and the bits of each that are kept: all,
/// or none where a point reads nothing.
struct Points {
  float rows[kPoints];
  float columns[kPoints];
  int32_t pixels[kTaps][kPoints];
  uint32_t kept[kTaps][kPoints];
  float weights[kTaps][kPoints];
};

/// Sets tap k of point i to the pixel of that row and column, which are whole. One outside is none, or with
/// `border` the nearest.
HONE_INLINE void set_tap(Points& points, size_t k, size_t i, float row, float column, float weight,
                         float height, float width, bool border) {
  const float r = row < 0 ? 0.0f : (row > height - 1 ? height - 1 : row);
  const float c = column < 0 ? 0.0f : (column > width - 1 ? width - 1 : column);
  points.pixels[k][i] = static_cast<int32_t>(r) * static_cast<int32_t>(width) + static_cast<int32_t>(c);
  points.kept[k][i] = (r == row && c == column) || border ? 0xffffffffu : 0u;
  points.weights[k][i] = weight;
}

HONE_CLONES void read_nearest(Points& points, float height, float width, bool border, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) {
    set_tap(points, 0, i, __builtin_rintf(points.rows[i]), __builtin_rintf(points.columns[i]), 1, height,
            width, border);
  }
}

HONE_CLONES void read_linear(Points& points, float height, float width, bool border, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) {
    const float top = __builtin_floorf(points.rows[i]);
    const float left = __builtin_floorf(points.columns[i]);
    const float below = points.rows[i] - top;
    const float right = points.columns[i] - left;
    set_tap(points, 0, i, top, left, (1 - below) * (1 - right), height, width, border);
    set_tap(points, 1, i, top, left + 1, (1 - below) * right, height, width, border);
    set_tap(points, 2, i, top + 1, left, below * (1 - right), height, width, border);
    set_tap(points, 3, i, top + 1, left + 1, below * right, height, width, border);
  }
}

HONE_INLINE float tap(const Points& points, const float* plane, size_t k, size_t i) {
  const uint32_t bits = std::bit_cast<uint32_t>(plane[points.pixels[k][i]]);
  return points.weights[k][i] * std::bit_cast<float>(bits & points.kept[k][i]);
}

HONE_CLONES void sample_nearest(const Points& points, const float* plane, float* y, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) y[i] = tap(points, plane, 0, i);
}

HONE_CLONES void sample_linear(const Points& points, const float* plane, float* y, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) {
    y[i] = (tap(points, plane, 0, i) + tap(points, plane, 1, i)) +
           (tap(points, plane, 2, i) + tap(points, plane, 3, i));
  }
}

class GridSampleKernel final : public engine::Kernel {
 public:
  GridSampleKernel(const Shape& image, const Shape& grid, bool nearest, bool align_corners, Padding padding)
      : rows_{static_cast<float>(image[2]), align_corners, padding},
        columns_{static_cast<float>(image[3]), align_corners, padding},
        plane_(image[2] * image[3]),
        images_(image[0]),
        channels_(image[1]),
        places_(grid[1] * grid[2]),
        nearest_(nearest) {}

  void run(const engine::Run& run) const override {
    const int64_t parts = (places_ + kPoints - 1) / kPoints;
    const bool parallel = images_ * channels_ * places_ > kWorthThreads;
    in_ranges(images_ * parts, parallel, [&](int64_t begin, int64_t end) {
      Points points;
      for (int64_t unit = begin; unit < end; ++unit)
        run_part(run, unit / parts, unit % parts * kPoints, points);
    });
  }

 private:
  void run_part(const engine::Run& run, int64_t image, int64_t first, Points& points) const {
    const int64_t n = std::min(kPoints, places_ - first);
    const auto* grid = static_cast<const float*>(run.inputs[1]) + (image * places_ + first) * 2;
    // The last coordinate of a point belongs to the first axis.
    place(rows_, grid + 1, points.rows, n);
    place(columns_, grid, points.columns, n);
    const bool border = rows_.padding != Padding::kZeros;
    (nearest_ ? read_nearest : read_linear)(points, rows_.size, columns_.size, border,
                                            static_cast<size_t>(n));
    const auto* x = static_cast<const float*>(run.inputs[0]) + image * channels_ * plane_;
    auto* y = static_cast<float*>(run.outputs[0]) + image * channels_ * places_ + first;
    for (int64_t c = 0; c < channels_; ++c)
      (nearest_ ? sample_nearest : sample_linear)(points, x + c * plane_, y + c * places_,
                                                  static_cast<size_t>(n));
  }

  static void place(const SampledAxis& axis, const float* coordinates, float* positions, int64_t n) {
    const auto count = static_cast<size_t>(n);
    locate(coordinates, axis.size, axis.align_corners, positions, count);
    if (axis.padding == Padding::kReflection) {
      for (size_t i = 0; i < count; ++i) positions[i] = axis.reflect(positions[i]);
      // Between the outer edges of pixels: the taps are kept inside, not the position.
      return keep_between(-0.5f, axis.size - 0.5f, positions, count);
    }
    keep_between(axis.lowest(), axis.highest(), positions, count);
  }

  SampledAxis rows_;
  SampledAxis columns_;
  int64_t plane_;
  int64_t images_;
  int64_t channels_;
  int64_t places_;
  bool nearest_;
};

Offer offer_grid_sample(const StepRequest& request, engine::WeightStore&) {
  const Shape& image = request.inputs[0].shape;
  const Shape& grid = request.inputs[1].shape;
  if (image.size() != 4 || grid.size() != 4 || grid[0] != image[0] || grid[3] != 2)
    return Offer::refuse("only images");
  if (image[2] * image[3] > kMostPixels) return Offer::refuse("a plane too large for positions in float32");
  const std::string& mode = request.node.attributes.get_string("mode");
  const std::string& padding = request.node.attributes.get_string("padding_mode");
  // The pixels that a reflected point reads are reflected one by one, too.
  const bool nearest = mode == "nearest";
  if (!nearest && mode != "linear" && mode != "bilinear") return Offer::refuse("cubic interpolation");
  if (nearest && padding != "zeros" && padding != "border") return Offer::refuse("reflected nearest pixels");
  const Padding kind = padding == "zeros"    ? Padding::kZeros
                       : padding == "border" ? Padding::kBorder
                                             : Padding::kReflection;
  Offer offer;
  offer.inputs = {{tensor::DType::kFloat32, image, Layout::kPlain},
                  {tensor::DType::kFloat32, grid, Layout::kPlain}};
  offer.outputs = request.outputs;
  offer.kernel = std::make_shared<GridSampleKernel>(
      image, grid, nearest, request.node.attributes.get_int("align_corners") != 0, kind);
  return offer;
}

}  // namespace

void add_grid_sample_tactics(TacticList& list) {
  list.push_back({.name = "grid_sample",
                  .operators = {"GridSample"},
                  .requirements = {engine::only_float32, engine::nonempty_output, engine::nonempty_input},
                  .make = offer_grid_sample});
}

}  // namespace hone::device::cpu
