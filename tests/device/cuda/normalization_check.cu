// Checks of normalization.hpp.
#include "device/cuda/plugin/kernels/layers/normalization.hpp"

#include <algorithm>
#include <cmath>

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

void check_softmax(Family& family, FloatType type, FloatType result, bool logarithm, int64_t outer,
                   int64_t axis, int64_t inner) {
  const Values x(outer * axis * inner, type, -6, 6);
  Output y(outer * axis * inner, result);
  const std::string what = "softmax of " + std::to_string(axis) + " by " + std::to_string(inner);
  family.launched(softmax(x.get(), type, y.get(), result, logarithm, outer, axis, inner, {}), what);
  for (int64_t i = 0; i < outer * inner; ++i) {
    const int64_t first = i / inner * axis * inner + i % inner;
    double top = -1e300, sum = 0;
    for (int64_t k = 0; k < axis; ++k) top = std::max(top, x[first + k * inner]);
    for (int64_t k = 0; k < axis; ++k) sum += std::exp(x[first + k * inner] - top);
    for (int64_t k = 0; k < axis; ++k) {
      const double shifted = x[first + k * inner] - top;
      y[first + k * inner] = logarithm ? shifted - std::log(sum) : std::exp(shifted) / sum;
    }
  }
  // Logarithms up to 20; exponentials up to 1, whose sum of `axis` positive terms has that many roundings.
  family.compare(y, kFloatRoundoff * (logarithm ? 64 : 16 + std::sqrt(static_cast<double>(axis))), what);
}

struct Shape {
  int64_t batch, channels, groups, pixels;
};

int64_t position(ImageOrder order, const Shape& shape, int64_t n, int64_t c, int64_t p) {
  return order == ImageOrder::kPlain ? (n * shape.channels + c) * shape.pixels + p
                                     : (n * shape.pixels + p) * shape.channels + c;
}

/// Layer normalization is that of one group with one pixel per image.
void check_groups(Family& family, FloatType type, ImageOrder order, const Shape& shape, bool layer,
                  bool parameters) {
  const Values x(shape.batch * shape.channels * shape.pixels, type, -1, 3);
  const Values scale(shape.channels, FloatType::kFloat), bias(shape.channels, FloatType::kFloat);
  const auto* s = parameters ? static_cast<const float*>(scale.get()) : nullptr;
  const auto* b = parameters ? static_cast<const float*>(bias.get()) : nullptr;
  Output y(shape.batch * shape.channels * shape.pixels, type);
  constexpr float kEpsilon = 1e-3f;
  const GroupNormalization norm{type,           order,        kEpsilon,     shape.batch,
                                shape.channels, shape.groups, shape.pixels, {}};
  const Output workspace(group_normalization_bytes(norm) / 4 + 1, FloatType::kFloat);
  const std::string what = "C" + std::to_string(shape.channels) + " groups " + std::to_string(shape.groups);
  family.launched(
      layer ? layer_normalization(x.get(), y.get(), type, s, b, true, kEpsilon, shape.batch, shape.channels,
                                  {.device = &gpu()})
            : group_normalization(norm, x.get(), y.get(), s, b, workspace.get(), {.device = &gpu()}),
      what);
  const int64_t members = shape.channels / shape.groups;
  for (int64_t set = 0; set < shape.batch * shape.groups; ++set) {
    const int64_t n = set / shape.groups, first = set % shape.groups * members;
    const auto count = static_cast<double>(members * shape.pixels);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < members * shape.pixels; ++i)
      sum += x[position(order, shape, n, first + i / shape.pixels, i % shape.pixels)];
    const double mean = sum / count;
    for (int64_t i = 0; i < members * shape.pixels; ++i)
      squares += std::pow(x[position(order, shape, n, first + i / shape.pixels, i % shape.pixels)] - mean, 2);
    const double factor = 1 / std::sqrt(squares / count + kEpsilon);
    for (int64_t i = 0; i < members * shape.pixels; ++i) {
      const int64_t c = first + i / shape.pixels;
      const int64_t at = position(order, shape, n, c, i % shape.pixels);
      y[at] = (x[at] - mean) * factor * (parameters ? scale[c] : 1) + (parameters ? bias[c] : 0);
    }
  }
  // The mean (up to 3) and the scale (1 / 1.15 for this spread; up to 30 for one element) have a few
  // roundings per partial sum of at most count / 32 + 32 terms.
  const auto terms = static_cast<double>(members * shape.pixels) / 32 + 32;
  family.compare(y, kFloatRoundoff * 3 * (members * shape.pixels == 1 ? 64 : 2 * terms), what);
}

void check_root_mean_square(Family& family, FloatType type, int64_t rows, int64_t columns) {
  // Squares of what is not small leave the range of half.
  const Values x(rows * columns, type, -600, 600);
  const Values scale(columns, FloatType::kFloat);
  Output y(rows * columns, type);
  constexpr float kEpsilon = 1e-6f;
  family.launched(rms_normalization(x.get(), y.get(), type, static_cast<const float*>(scale.get()), true,
                                    kEpsilon, rows, columns, {.device = &gpu()}),
                  "rows of " + std::to_string(columns));
  for (int64_t row = 0; row < rows; ++row) {
    double squares = 0;
    for (int64_t i = 0; i < columns; ++i) squares += x[row * columns + i] * x[row * columns + i];
    const double factor = 1 / std::sqrt(squares / static_cast<double>(columns) + kEpsilon);
    for (int64_t i = 0; i < columns; ++i) y[row * columns + i] = x[row * columns + i] * factor * scale[i];
  }
  // As of the layer norm, without a mean.
  family.compare(y, kFloatRoundoff * 6 * (static_cast<double>(columns) / 32 + 32),
                 "rows of " + std::to_string(columns));
}

void check_response(Family& family, FloatType type, ImageOrder order, const Shape& shape, int64_t size) {
  const Values x(shape.batch * shape.channels * shape.pixels, type, -4, 4);
  Output y(shape.batch * shape.channels * shape.pixels, type);
  family.launched(local_response_normalization(x.get(), y.get(), type, order, size, 0.5f, 0.75f, 2.0f,
                                               shape.batch, shape.channels, shape.pixels, {}),
                  "LRN");
  for (int64_t i = 0; i < shape.batch * shape.pixels; ++i) {
    for (int64_t c = 0; c < shape.channels; ++c) {
      double sum = 0;
      const int64_t first = c - (size - 1) / 2;
      for (int64_t k = std::max<int64_t>(first, 0); k < std::min(first + size, shape.channels); ++k)
        sum += std::pow(x[position(order, shape, i / shape.pixels, k, i % shape.pixels)], 2);
      const int64_t at = position(order, shape, i / shape.pixels, c, i % shape.pixels);
      y[at] = x[at] / std::pow(2 + 0.5 / static_cast<double>(size) * sum, 0.75);
    }
  }
  family.compare(y, kFloatRoundoff * 64, "LRN");
}

}  // namespace

void check_normalization() {
  constexpr ImageOrder kOrders[] = {ImageOrder::kPlain, ImageOrder::kChannelsLast};
  {
    Family family("softmax");
    for (const FloatType type : kFloatTypes) {
      for (const FloatType result : {type, FloatType::kFloat}) {
        for (const bool logarithm : {false, true}) {
          check_softmax(family, type, result, logarithm, 3, 1000, 1);
          check_softmax(family, type, result, logarithm, 5, 21, 1);
          check_softmax(family, type, result, logarithm, 2, 19, 65);
          check_softmax(family, type, result, logarithm, 1, 1, 3);
          check_softmax(family, type, result, logarithm, 2, 3137, 8);
          check_softmax(family, type, result, logarithm, 3, 45, 70);
          check_softmax(family, type, result, logarithm, 2, 600, 3);
        }
      }
    }
  }
  {
    Family family("layer and group norm");
    for (const FloatType type : kFloatTypes) {
      for (const bool parameters : {false, true}) {
        check_groups(family, type, ImageOrder::kPlain, {7, 768, 1, 1}, true, parameters);
        check_groups(family, type, ImageOrder::kPlain, {3, 33, 1, 1}, true, parameters);
        check_groups(family, type, ImageOrder::kPlain, {5, 96, 1, 1}, true, parameters);
        check_groups(family, type, ImageOrder::kPlain, {2, 6144, 1, 1}, true, parameters);
        check_groups(family, type, ImageOrder::kPlain, {4099, 384, 1, 1}, true, parameters);
        for (const ImageOrder order : kOrders) {
          check_groups(family, type, order, {2, 24, 4, 35}, false, parameters);
          check_groups(family, type, order, {2, 6, 6, 150}, false, parameters);
          check_groups(family, type, order, {3, 5, 5, 1}, false, parameters);
          check_groups(family, type, order, {1, 64, 2, 900}, false, parameters);
          check_groups(family, type, order, {1, 64, 2, 5000}, false, parameters);
        }
      }
    }
  }
  {
    Family family("RMS norm");
    for (const FloatType type : kFloatTypes) {
      for (const auto& [rows, columns] :
           {std::pair(1, 896), {7, 2048}, {3, 33}, {2, 6144}, {4099, 384}, {5, 1}})
        check_root_mean_square(family, type, rows, columns);
    }
  }
  Family family("LRN");
  for (const FloatType type : kFloatTypes) {
    for (const ImageOrder order : kOrders) {
      check_response(family, type, order, {2, 16, 1, 21}, 5);
      check_response(family, type, order, {1, 3, 1, 7}, 4);
    }
  }
}

}  // namespace hone::device::cuda::check
