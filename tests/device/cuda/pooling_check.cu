// Checks of pooling.hpp.
#include "device/cuda/plugin/kernels/layers/pooling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

constexpr ImageOrder kOrders[] = {ImageOrder::kPlain, ImageOrder::kChannelsLast};

int64_t product(const int64_t (&sizes)[3]) { return sizes[0] * sizes[1] * sizes[2]; }

int64_t position(ImageOrder order, int64_t channels, int64_t pixels, int64_t n, int64_t c, int64_t p) {
  return order == ImageOrder::kPlain ? (n * channels + c) * pixels + p : (n * pixels + p) * channels + c;
}

double expect_one(const Values& x, ImageOrder order, PoolKind kind, const PoolSize& size, int64_t n,
                  int64_t c, int64_t out) {
  const int64_t at[3] = {out / (size.output[1] * size.output[2]), out / size.output[2] % size.output[1],
                         out % size.output[2]};
  double best = -std::numeric_limits<double>::infinity(), sum = 0;
  int64_t inside = 0, padded = 0;
  for (int64_t tap = 0; tap < product(size.kernel); ++tap) {
    const int64_t taps[3] = {tap / (size.kernel[1] * size.kernel[2]), tap / size.kernel[2] % size.kernel[1],
                             tap % size.kernel[2]};
    bool in_image = true, in_padding = true;
    int64_t pixel = 0;
    for (int i = 0; i < 3; ++i) {
      const int64_t p = at[i] * size.stride[i] - size.pad_begin[i] + taps[i] * size.dilation[i];
      in_image = in_image && p >= 0 && p < size.input[i];
      in_padding = in_padding && p < size.input[i] + size.pad_end[i];
      pixel = pixel * size.input[i] + p;
    }
    padded += in_padding ? 1 : 0;
    if (!in_image) continue;
    ++inside;
    const double value = x[position(order, size.channels, product(size.input), n, c, pixel)];
    best = value > best || std::isnan(value) ? value : best;
    sum += value;
  }
  if (kind == PoolKind::kMax) return best;
  const int64_t count = kind == PoolKind::kAveragePadded ? padded : inside;
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

void check_windows(Family& family, const PoolSize& size, FloatType type, ImageOrder order, PoolKind kind,
                   const std::string& what) {
  std::vector<double> values = Values(size.batch * size.channels * product(size.input), type, -2, 1).host;
  if (kind == PoolKind::kMax && values.size() > 17) values[17] = std::nan("");
  const Values x(values, type);
  const int64_t pixels = product(size.output);
  Output y(size.batch * size.channels * pixels, type);
  family.launched(pool(x.get(), y.get(), type, order, kind, size, {}), what);
  for (int64_t n = 0; n < size.batch; ++n) {
    for (int64_t c = 0; c < size.channels; ++c) {
      for (int64_t p = 0; p < pixels; ++p)
        y[position(order, size.channels, pixels, n, c, p)] = expect_one(x, order, kind, size, n, c, p);
    }
  }
  // Sums of at most `taps` values up to 2, divided.
  const auto taps = static_cast<double>(product(size.kernel));
  family.compare(y, kind == PoolKind::kMax ? 0 : kFloatRoundoff * 2 * (taps + 1), what);
}

void check_global(Family& family, FloatType type, FloatType result, ImageOrder order, bool maximum,
                  int64_t batch, int64_t channels, int64_t pixels) {
  const Values x(batch * channels * pixels, type, -2, 1);
  Output y(batch * channels, result);
  const std::string what = "C" + std::to_string(channels) + " pixels " + std::to_string(pixels);
  family.launched(global_pool(x.get(), type, order, y.get(), result, maximum, batch, channels, pixels, {}),
                  what);
  for (int64_t i = 0; i < batch * channels; ++i) {
    double sum = 0, best = -std::numeric_limits<double>::infinity();
    for (int64_t p = 0; p < pixels; ++p) {
      const double value = x[position(order, channels, pixels, i / channels, i % channels, p)];
      sum += value;
      best = std::max(best, value);
    }
    y[i] = maximum ? best : sum / static_cast<double>(pixels);
  }
  // A thread adds at most pixels / 32 + 1 values and then 32 partial sums.
  const double additions = static_cast<double>(pixels) / 32 + 34;
  family.compare(y, kFloatRoundoff * 2 * additions, what);
}

}  // namespace

void check_pooling() {
  const PoolSize resnet{2, 16, {1, 13, 12}, {1, 7, 6}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}};
  const PoolSize ceil{1, 6, {1, 8, 8}, {1, 4, 4}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}};
  const PoolSize dilated{1, 8, {1, 9, 9}, {1, 7, 5}, {1, 2, 3}, {1, 1, 1}, {1, 2, 2}, {0, 0, 0}, {0, 0, 0}};
  const PoolSize volume{2, 5, {4, 5, 6}, {3, 3, 4}, {2, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 2}, {0, 1, 1}};
  const PoolSize line{1, 3, {1, 1, 10}, {1, 1, 5}, {1, 1, 4}, {1, 1, 2}, {1, 1, 1}, {0, 0, 1}, {0, 0, 1}};
  const PoolSize empty{0, 3, {1, 1, 10}, {1, 1, 5}, {1, 1, 4}, {1, 1, 2}, {1, 1, 1}, {0, 0, 1}, {0, 0, 1}};
  {
    Family family("pooling");
    for (const FloatType type : kFloatTypes) {
      for (const ImageOrder order : kOrders) {
        for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage, PoolKind::kAveragePadded}) {
          check_windows(family, resnet, type, order, kind, "3x3/2");
          check_windows(family, ceil, type, order, kind, "ceil mode");
          check_windows(family, dilated, type, order, kind, "dilated");
          check_windows(family, volume, type, order, kind, "3-D");
          check_windows(family, line, type, order, kind, "1-D");
          check_windows(family, empty, type, order, kind, "empty");
        }
      }
    }
  }
  Family family("global pooling");
  for (const FloatType type : kFloatTypes) {
    for (const FloatType result : kFloatTypes) {
      for (const ImageOrder order : kOrders) {
        for (const bool maximum : {false, true}) {
          check_global(family, type, result, order, maximum, 2, 72, 49);
          check_global(family, type, result, order, maximum, 3, 13, 100);
          check_global(family, type, result, order, maximum, 1, 130, 1);
        }
      }
    }
  }
}

}  // namespace hone::device::cuda::check
