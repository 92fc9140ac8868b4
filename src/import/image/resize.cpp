// Antialiased bilinear resizing: a separable convolution with a triangle that
// is as wide as the reduction.
#include <algorithm>
#include <cmath>

#include "import/image/preprocess.hpp"

namespace hone::importer {
namespace {

/// The source pixels that make one target pixel, and their weights (sum 1).
struct Taps {
  int64_t first = 0;
  std::vector<double> weights;
};

std::vector<Taps> triangle_taps(int64_t from, int64_t to) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  const double support = std::max(ratio, 1.0);
  std::vector<Taps> result(static_cast<size_t>(to));
  for (int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * ratio;
    Taps& taps = result[static_cast<size_t>(i)];
    taps.first = std::max<int64_t>(0, static_cast<int64_t>(centre - support + 0.5));
    const int64_t end = std::min(from, static_cast<int64_t>(centre + support + 0.5));
    double sum = 0;
    for (int64_t k = taps.first; k < end; ++k) {
      const double distance = std::abs(static_cast<double>(k) + 0.5 - centre) / support;
      taps.weights.push_back(std::max(0.0, 1 - distance));
      sum += taps.weights.back();
    }
    for (double& weight : taps.weights) weight /= sum;
  }
  return result;
}

uint8_t weighted_sum(const Taps& taps, const uint8_t* pixels, int64_t stride) {
  double sum = 0.5;
  for (size_t k = 0; k < taps.weights.size(); ++k) {
    sum += taps.weights[k] * pixels[(taps.first + static_cast<int64_t>(k)) * stride];
  }
  return static_cast<uint8_t>(std::clamp(sum, 0.0, 255.0));
}

Image resize_width(const Image& image, int64_t width) {
  Image result{width, image.height, image.channels, {}};
  result.pixels.reserve(static_cast<size_t>(width * image.height * image.channels));
  const auto taps = triangle_taps(image.width, width);
  for (int64_t y = 0; y < image.height; ++y) {
    const uint8_t* row = image.pixels.data() + y * image.width * image.channels;
    for (const Taps& target : taps) {
      for (int64_t c = 0; c < image.channels; ++c) {
        result.pixels.push_back(weighted_sum(target, row + c, image.channels));
      }
    }
  }
  return result;
}

Image resize_height(const Image& image, int64_t height) {
  Image result{image.width, height, image.channels, {}};
  const int64_t row = image.width * image.channels;
  result.pixels.reserve(static_cast<size_t>(row * height));
  for (const Taps& target : triangle_taps(image.height, height)) {
    for (int64_t x = 0; x < row; ++x) {
      result.pixels.push_back(weighted_sum(target, image.pixels.data() + x, row));
    }
  }
  return result;
}

}  // namespace

Image resize_image(const Image& image, int64_t width, int64_t height) {
  const Image wide = width == image.width ? image : resize_width(image, width);
  return height == image.height ? wide : resize_height(wide, height);
}

}  // namespace hone::importer
