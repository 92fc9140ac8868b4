// GridSample of images: what each point of the grid reads is worked out once for all channels.
#include <algorithm>
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
constexpr int64_t kWorthThreads = 1 << 12;

enum class Padding : uint8_t { kZeros, kBorder, kReflection };

/// One axis of the image that is sampled.
struct SampledAxis {
  int64_t size;
  bool align_corners;
  Padding padding;

  /// From [-1, 1] to positions: the ends are pixel centres, or the outer edges of pixels.
  float position(float n) const {
    const auto length = static_cast<float>(size);
    float x = align_corners ? (n + 1) / 2 * (length - 1) : ((n + 1) * length - 1) / 2;
    if (padding == Padding::kZeros) {
      // Beyond every pixel, yet safe to convert to an integer; also what is no number.
      constexpr float kFar = 1e9f;
      return std::abs(x) < kFar ? x : -kFar;
    }
    if (padding == Padding::kReflection) x = reflect(x);
    if (std::isnan(x)) return 0;
    return padding == Padding::kBorder ? std::clamp(x, 0.0f, length - 1) : x;
  }

  float reflect(float x) const {
    const float low = align_corners ? 0 : -0.5f;
    const float span = align_corners ? static_cast<float>(size - 1) : static_cast<float>(size);
    if (span == 0) return 0;
    const float distance = std::fmod(std::abs(x - low), 2 * span);
    return low + (distance > span ? 2 * span - distance : distance);
  }

  /// The pixel at position `i`, -1 for none.
  int64_t pixel(float i) const {
    if (padding == Padding::kZeros) {
      return i < 0 || i >= static_cast<float>(size) ? -1 : static_cast<int64_t>(i);
    }
    return static_cast<int64_t>(std::clamp(i, 0.0f, static_cast<float>(size - 1)));
  }
};

/// What some points read: `taps` pixels each, -1 for none, and their weights.
struct Points {
  int32_t pixels[kTaps][kPoints];
  float weights[kTaps][kPoints];
};

HONE_CLONES void sample(const Points& points, const float* plane, size_t taps, float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = 0;
  for (size_t k = 0; k < taps; ++k) {
    const int32_t* pixels = points.pixels[k];
    const float* weights = points.weights[k];
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
      const float value = plane[pixels[i] < 0 ? 0 : pixels[i]];
      y[i] += pixels[i] < 0 ? 0.0f : weights[i] * value;
    }
  }
}

class GridSampleKernel final : public engine::Kernel {
 public:
  GridSampleKernel(const Shape& image, const Shape& grid, bool nearest, bool align_corners, Padding padding)
      : rows_{image[2], align_corners, padding},
        columns_{image[3], align_corners, padding},
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
    for (int64_t i = 0; i < n; ++i) read_point(grid[2 * i], grid[2 * i + 1], i, points);
    const int64_t plane = rows_.size * columns_.size;
    const auto* x = static_cast<const float*>(run.inputs[0]) + image * channels_ * plane;
    auto* y = static_cast<float*>(run.outputs[0]) + image * channels_ * places_ + first;
    for (int64_t c = 0; c < channels_; ++c)
      sample(points, x + c * plane, nearest_ ? 1 : kTaps, y + c * places_, static_cast<size_t>(n));
  }

  void read_point(float across, float down, int64_t i, Points& points) const {
    const float column = columns_.position(across);
    const float row = rows_.position(down);
    const auto set = [&](size_t k, float r, float c, float weight) {
      const int64_t at_row = rows_.pixel(r);
      const int64_t at_column = columns_.pixel(c);
      const bool inside = at_row >= 0 && at_column >= 0;
      points.pixels[k][i] = inside ? static_cast<int32_t>(at_row * columns_.size + at_column) : -1;
      points.weights[k][i] = weight;
    };
    if (nearest_) return set(0, std::nearbyint(row), std::nearbyint(column), 1);
    const float top = std::floor(row);
    const float left = std::floor(column);
    const float below = row - top;
    const float right = column - left;
    set(0, top, left, (1 - below) * (1 - right));
    set(1, top, left + 1, (1 - below) * right);
    set(2, top + 1, left, below * (1 - right));
    set(3, top + 1, left + 1, below * right);
  }

  SampledAxis rows_;
  SampledAxis columns_;
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
  if (image[2] * image[3] > INT32_MAX) return Offer::refuse("a plane too large for positions of 32 bits");
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
