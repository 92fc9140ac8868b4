// The host code of winograd.hpp.
#include "device/cuda/plugin/kernels/convolution/winograd.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/convolution/winograd_transforms.hpp"

namespace hone::device::cuda {
namespace {

/// With fewer channels, the transforms take longer than the products that they save.
constexpr int64_t kFewestChannels = 16;
/// Filters of 3 x 3 grow fourfold; with few tiles, reading them takes longer than a direct convolution.
constexpr int64_t kFewestTiles = 64;
constexpr int64_t kMultiple = 4;
constexpr int64_t kMostUnits = int64_t{1} << 31;

}  // namespace

int64_t Winograd::product_bytes(int64_t parts, int64_t columns) const {
  return kProducts * part_tiles(parts) * columns * static_cast<int64_t>(sizeof(float));
}

Refusal winograd_refusal(const Winograd& size) {
  if (size.taps != 3 && size.taps != 5) return "its filters are not of 3 x 3 or 5 x 5";
  for (const int64_t channels : {size.channels, size.filters}) {
    if (channels % kMultiple != 0)
      return std::to_string(channels) + " channels, no multiple of " + std::to_string(kMultiple);
  }
  // Limits the elements: kernels never have more units than that, and number them in 31 bits.
  if (size.tiles() * std::max(size.channels, size.filters) >= kMostUnits) return "a huge image";
  return {};
}

Refusal winograd_loss(const Winograd& size) {
  const auto few = [](int64_t count, int64_t fewest, const char* what) {
    return count < fewest ? std::to_string(count) + what + ", fewer than " + std::to_string(fewest)
                          : std::string();
  };
  const int64_t channels = std::min(size.channels, size.filters);
  Refusal reason = few(channels, kFewestChannels, " channels");
  return !reason ? few(size.tiles(), kFewestTiles, " tiles") : reason;
}

int64_t winograd_parts(const Winograd& size, int64_t most_bytes) {
  const int64_t whole = size.image_bytes(1) + size.result_bytes(1);
  return std::min(size.tiles(), (whole + most_bytes - 1) / most_bytes);
}

void winograd_filter(const Winograd& size, const float* filter, float* to) {
  const int taps = size.taps;
  const int64_t pairs = size.filters * size.channels;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    double rows[5 * winograd::kPoints];
    double line[winograd::kPoints];
    double values[5 * 5];
    std::copy_n(filter + pair * taps * taps, taps * taps, values);
    for (int r = 0; r < taps; ++r) {
      winograd::transform_filter(values + r * taps, taps, 1, line);
      std::copy_n(line, winograd::kPoints, rows + r * winograd::kPoints);
    }
    for (int x = 0; x < winograd::kPoints; ++x) {
      winograd::transform_filter(rows + x, taps, winograd::kPoints, line);
      for (int y = 0; y < winograd::kPoints; ++y)
        to[(y * winograd::kPoints + x) * pairs + pair] = static_cast<float>(line[y]);
    }
  }
}

}  // namespace hone::device::cuda
