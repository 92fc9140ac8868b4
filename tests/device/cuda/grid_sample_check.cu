// Checks of grid_sample.hpp on points whose pixels are known: centres of pixels, and one far outside. The
// modes and paddings are compared with torch by the cases of tests/reference.
#include "device/cuda/plugin/kernels/layers/grid_sample.hpp"

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

constexpr int64_t kBatch = 2, kChannels = 3, kHeight = 5, kWidth = 4;

int64_t position(ImageOrder order, int64_t pixels, int64_t n, int64_t c, int64_t p) {
  return order == ImageOrder::kPlain ? (n * kChannels + c) * pixels + p : (n * pixels + p) * kChannels + c;
}

/// From pixels to [-1, 1] between the edges of the outermost ones.
double coordinate(double at, int64_t length) { return (2 * at + 1) / static_cast<double>(length) - 1; }

void check_points(Family& family, FloatType type, ImageOrder order, SampleMode mode, SamplePadding padding) {
  const Values x(kBatch * kChannels * kHeight * kWidth, type);
  GridSampleSize size;
  size.batch = kBatch;
  size.channels = kChannels;
  size.input[1] = kHeight;
  size.input[2] = kWidth;
  // Points in every image: all centres, the other way round, and one point far outside.
  size.points = kHeight * kWidth + 1;
  size.mode = mode;
  size.padding = padding;
  std::vector<double> points;
  for (int64_t i = 0; i < kBatch * size.points; ++i) {
    const int64_t pixel = kHeight * kWidth - 1 - i % size.points;
    points.push_back(pixel < 0 ? -9 : coordinate(static_cast<double>(pixel % kWidth), kWidth));
    points.push_back(pixel < 0 ? -9 : coordinate(static_cast<double>(pixel / kWidth), kHeight));
  }
  const Values grid(points, FloatType::kFloat);
  Output y(kBatch * kChannels * size.points, type);
  family.launched(grid_sample(x.get(), static_cast<const float*>(grid.get()), y.get(), type, order, size, {}),
                  "points");
  const int64_t pixels = kHeight * kWidth;
  for (int64_t n = 0; n < kBatch; ++n) {
    for (int64_t c = 0; c < kChannels; ++c) {
      for (int64_t p = 0; p < size.points; ++p) {
        const bool outside = p == pixels;
        y[position(order, size.points, n, c, p)] =
            outside && padding == SamplePadding::kZeros
                ? 0
                : x[position(order, pixels, n, c, outside ? 0 : pixels - 1 - p)];
      }
    }
  }
  // A coordinate of a float moves a point by up to 5 of its roundoffs, and weights as much; four times that
  // for the slope of the cubic filter.
  family.compare(y, kFloatRoundoff * 80, "points");
}

}  // namespace

void check_grid_sample() {
  Family family("grid sample");
  for (const FloatType type : kFloatTypes) {
    for (const ImageOrder order : {ImageOrder::kPlain, ImageOrder::kChannelsLast}) {
      for (const SamplePadding padding : {SamplePadding::kZeros, SamplePadding::kBorder}) {
        for (const SampleMode mode : {SampleMode::kNearest, SampleMode::kLinear, SampleMode::kCubic})
          check_points(family, type, order, mode, padding);
      }
    }
  }
}

}  // namespace hone::device::cuda::check
