// Checks of resize.hpp.
#include "device/cuda/plugin/kernels/layers/resize.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

/// A table on the host and on the device; without taps the axis stays.
struct Axis {
  int64_t input, output;
  int taps;
  std::vector<int32_t> positions;
  std::vector<float> weights;
  std::shared_ptr<DeviceBuffer> device_positions, device_weights;

  ResizeAxisTaps view() const {
    if (taps == 0) return {input, output, 1, nullptr, nullptr};
    return {input, output, taps, static_cast<const int32_t*>(device_positions->get()),
            static_cast<const float*>(device_weights->get())};
  }
};

Axis identity(int64_t size) { return {size, size, 0, {}, {}, nullptr, nullptr}; }

/// Half-pixel coordinates; 1 tap is nearest, 2 linear, 4 cubic (a = -0.75, Keys 1981).
Axis half_pixel(int64_t input, int64_t output, int taps, bool extrapolates = false) {
  Axis axis = identity(input);
  axis.output = output;
  axis.taps = taps;
  for (int64_t o = 0; o < output; ++o) {
    const double x =
        (static_cast<double>(o) + 0.5) * static_cast<double>(input) / static_cast<double>(output) - 0.5;
    for (int t = 0; t < taps; ++t) {
      const double at = taps == 1 ? std::floor(x + 0.5) : std::floor(x) - taps / 2 + 1 + t;
      const double d = std::abs(at - x);
      double weight = taps == 1 ? 1 : 1 - d;
      if (taps == 4) {
        constexpr double a = -0.75;
        weight = d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
      }
      axis.positions.push_back(static_cast<int32_t>(std::clamp(at, 0.0, static_cast<double>(input - 1))));
      axis.weights.push_back(static_cast<float>(weight));
    }
    if (extrapolates && o == 0) axis.positions[0] = -1;
  }
  axis.device_positions = std::make_shared<DeviceBuffer>(axis.positions.size() * 4);
  axis.device_positions->upload(axis.positions.data());
  axis.device_weights = std::make_shared<DeviceBuffer>(axis.weights.size() * 4);
  axis.device_weights->upload(axis.weights.data());
  return axis;
}

double expect_one(const Values& x, const Axis (&axes)[3], const int64_t (&at)[3], int64_t first,
                  int64_t step) {
  double sum = 0;
  int64_t counts[3];
  for (int i = 0; i < 3; ++i) counts[i] = std::max(axes[i].taps, 1);
  for (int64_t tap = 0; tap < counts[0] * counts[1] * counts[2]; ++tap) {
    const int64_t taps[3] = {tap / counts[2] / counts[1], tap / counts[2] % counts[1], tap % counts[2]};
    int64_t pixel = 0;
    double weight = 1;
    for (int i = 0; i < 3; ++i) {
      const auto entry = static_cast<size_t>(at[i] * counts[i] + taps[i]);
      const int64_t position = axes[i].taps == 0 ? at[i] : axes[i].positions[entry];
      if (position < 0) return 0.25;
      weight *= axes[i].taps == 0 ? 1 : axes[i].weights[entry];
      pixel = pixel * axes[i].input + position;
    }
    sum += weight * x[first + pixel * step];
  }
  return sum;
}

void check_case(Family& family, FloatType type, ImageOrder order, int64_t channels, const Axis& depth,
                const Axis& rows, const Axis& columns, const char* what) {
  constexpr int64_t kBatch = 2;
  const Axis axes[3] = {depth, rows, columns};
  const int64_t in = depth.input * rows.input * columns.input;
  const int64_t out = depth.output * rows.output * columns.output;
  const bool last = order == ImageOrder::kChannelsLast;
  const Values x(kBatch * channels * in, type);
  Output y(kBatch * channels * out, type);
  const ResizeSize size{kBatch, channels, {depth.view(), rows.view(), columns.view()}};
  family.launched(resize(x.get(), y.get(), type, order, size, 0.25f, {}), what);
  for (int64_t i = 0; i < kBatch * channels * out; ++i) {
    const int64_t n = i / (channels * out);
    const int64_t c = last ? i % channels : i / out % channels;
    const int64_t pixel = last ? i / channels % out : i % out;
    const int64_t at[3] = {pixel / columns.output / rows.output, pixel / columns.output % rows.output,
                           pixel % columns.output};
    y[i] =
        expect_one(x, axes, at, last ? n * in * channels + c : (n * channels + c) * in, last ? channels : 1);
  }
  // At most 64 terms whose weights add up to less than 4 in magnitude.
  family.compare(y, kFloatRoundoff * 4 * 64, what);
}

}  // namespace

void check_resize() {
  Family family("resize");
  for (const FloatType type : kFloatTypes) {
    for (const ImageOrder order : {ImageOrder::kPlain, ImageOrder::kChannelsLast}) {
      for (const int64_t channels : {3, 16}) {
        for (const int taps : {1, 2, 4}) {
          check_case(family, type, order, channels, identity(1), half_pixel(5, 10, taps),
                     half_pixel(7, 11, taps), "2-D");
          check_case(family, type, order, channels, half_pixel(4, 3, taps), half_pixel(6, 4, taps),
                     identity(5), "3-D");
        }
        check_case(family, type, order, channels, identity(1), half_pixel(5, 10, 2, true), identity(3),
                   "extrapolation");
      }
    }
  }
}

}  // namespace hone::device::cuda::check
