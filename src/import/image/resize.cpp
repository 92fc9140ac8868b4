// Antialiased bilinear resizing: a separable convolution with a triangle filter
// whose width grows with the reduction factor.
#include <algorithm>
#include <cmath>

#include "import/image/preprocess.hpp"
#include "import/image/resize_windows.hpp"

namespace hone::importer {
namespace {

uint8_t weighted_sum(const ResizeWindow& window, const int32_t* weights, const uint8_t* pixels,
                     int64_t stride) {
  int32_t sum = 1 << (kResizeBits - 1);
  const uint8_t* pixel = pixels + window.first * stride;
  for (int64_t k = 0; k < window.count; ++k) sum += weights[window.weights + k] * pixel[k * stride];
  return static_cast<uint8_t>(std::clamp(sum >> kResizeBits, 0, 255));
}

Image resize_width(const Image& image, int64_t width) {
  Image result{width, image.height, image.channels, {}};
  result.pixels.reserve(static_cast<size_t>(width * image.height * image.channels));
  const ResizeWindows windows = resize_windows(image.width, width);
  for (int64_t y = 0; y < image.height; ++y) {
    const uint8_t* row = image.pixels.data() + y * image.width * image.channels;
    for (const ResizeWindow& window : windows.windows) {
      for (int64_t c = 0; c < image.channels; ++c) {
        result.pixels.push_back(weighted_sum(window, windows.weights.data(), row + c, image.channels));
      }
    }
  }
  return result;
}

Image resize_height(const Image& image, int64_t height) {
  Image result{image.width, height, image.channels, {}};
  const int64_t row = image.width * image.channels;
  result.pixels.reserve(static_cast<size_t>(row * height));
  const ResizeWindows windows = resize_windows(image.height, height);
  for (const ResizeWindow& window : windows.windows) {
    for (int64_t x = 0; x < row; ++x) {
      result.pixels.push_back(weighted_sum(window, windows.weights.data(), image.pixels.data() + x, row));
    }
  }
  return result;
}

}  // namespace

ResizeWindows resize_windows(int64_t from, int64_t to) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  const double support = std::max(ratio, 1.0);
  ResizeWindows result;
  std::vector<double> shares;
  for (int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * ratio;
    const int64_t first = std::max<int64_t>(0, static_cast<int64_t>(centre - support + 0.5));
    const int64_t end = std::min(from, static_cast<int64_t>(centre + support + 0.5));
    shares.clear();
    double sum = 0;
    for (int64_t k = first; k < end; ++k) {
      const double distance = std::abs(static_cast<double>(k) + 0.5 - centre) / support;
      shares.push_back(std::max(0.0, 1 - distance));
      sum += shares.back();
    }
    result.windows.push_back({first, end - first, static_cast<int64_t>(result.weights.size())});
    constexpr double kOne = 1 << kResizeBits;
    for (const double share : shares)
      result.weights.push_back(static_cast<int32_t>(std::lround(share / sum * kOne)));
  }
  return result;
}

Image resize_image(const Image& image, int64_t width, int64_t height) {
  const Image wide = width == image.width ? image : resize_width(image, width);
  return height == image.height ? wide : resize_height(wide, height);
}

}  // namespace hone::importer
