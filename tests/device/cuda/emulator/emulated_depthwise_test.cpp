// Depthwise convolutions by tiles on the emulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <optional>

#include "device/cuda/depthwise_sizes.hpp"
#include "device/cuda/emulator/emulated_kernels.hpp"

namespace hone::device::cuda::emulated {
namespace {

/// The result of a convolution of `size` on channels-last x, with weights [R][S][C].
std::vector<double> convolve(const ConvolutionSize& size, const std::vector<float>& x,
                             const std::vector<float>& w) {
  const int64_t channels = size.in_channels;
  std::vector<double> sums(
      static_cast<size_t>(size.batch * size.output[1] * size.output[2] * size.out_channels));
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t c = at % channels;
    const int64_t column = at / channels % size.output[2];
    const int64_t row = at / channels / size.output[2] % size.output[1];
    const int64_t n = at / channels / size.output[2] / size.output[1];
    for (int64_t tap = 0; tap < size.kernel[1] * size.kernel[2]; ++tap) {
      const int64_t y = row * size.stride[1] - size.pad_begin[1] + tap / size.kernel[2];
      const int64_t from = column * size.stride[2] - size.pad_begin[2] + tap % size.kernel[2];
      if (y < 0 || y >= size.input[1] || from < 0 || from >= size.input[2]) continue;
      sums[i] += x[((n * size.input[1] + y) * size.input[2] + from) * channels + c] * w[tap * channels + c];
    }
  }
  return sums;
}

std::string text(const ConvolutionSize& size, int rows) {
  return "kernel " + std::to_string(size.kernel[1]) + ", stride " + std::to_string(size.stride[1]) + ", " +
         std::to_string(size.batch) + " x " + std::to_string(size.input[1]) + " x " +
         std::to_string(size.input[2]) + " x " + std::to_string(size.in_channels) + ", " +
         std::to_string(rows) + " rows";
}

Extents result_extents(const ConvolutionSize& size) {
  return {size.batch, size.output[1], size.output[2], size.out_channels};
}

/// A convolution's operands, and its sums with the bias.
struct Operands {
  Operands(const ConvolutionSize& size, Element element, bool has_bias)
      : x(element, size.batch * size.input[1] * size.input[2] * size.in_channels, 3, 1),
        w(Element::kFloat, size.kernel[1] * size.kernel[2] * size.in_channels, 2, 2),
        bias(Element::kFloat, size.in_channels, 4, 3),
        expected(convolve(size, x.values, w.values)),
        arguments{x.get(), w.get(), has_bias ? bias.floats() : nullptr, nullptr} {
    for (size_t i = 0; has_bias && i < expected.size(); ++i) expected[i] += bias.values[i % size.in_channels];
  }

  ConvolutionArguments to(Output& y) const {
    ConvolutionArguments result = arguments;
    result.output = y.get();
    return result;
  }

  Tensor x;
  Tensor w;
  Tensor bias;
  std::vector<double> expected;
  ConvolutionArguments arguments;
};

LaunchOptions early() { return {.device = &emulator::properties(), .pdl = true, .next_waits = true}; }

/// Results are bounded; those without a bias are swished.
constexpr StreamEpilogue kBounded{StreamKind::kBounds, 0, -3, 6};
constexpr StreamEpilogue kSwished{StreamKind::kSwish, 2, 0, 0};
constexpr StreamEpilogue kHardSwished{StreamKind::kHardSwish, 0, 0, 0};

double applied(const StreamEpilogue& epilogue, double value) {
  if (epilogue.kind == StreamKind::kSwish) return value / (1 + std::exp(-epilogue.alpha * value));
  if (epilogue.kind == StreamKind::kHardSwish) return value * std::clamp(value / 6 + 0.5, 0.0, 1.0);
  return std::clamp<double>(value, epilogue.low, epilogue.high);
}

/// Only sums with bounds behind them have a bias.
void expect_tiles(const ConvolutionSize& size, Element element, FloatType type, int run,
                  const StreamEpilogue& epilogue = kBounded) {
  SCOPED_TRACE(text(size, run));
  const bool has_bias = epilogue.kind == StreamKind::kBounds;
  Operands operands(size, element, has_bias);
  for (double& value : operands.expected) value = applied(epilogue, value);
  expect_output(kFewSchedules, element, result_extents(size), operands.expected, has_bias ? 0 : 1,
                [&](Output& y) {
                  emulator::busy_ahead(nullptr, 0);
                  operands.x.be_busy();
                  return depthwise_tiles(operands.to(y), type, size, epilogue, run, early());
                });
}

constexpr std::pair<Element, FloatType> kTypes[] = {{Element::kHalf, FloatType::kHalf},
                                                    {Element::kBFloat16, FloatType::kBfloat16}};

// Channels and columns that fill no block, rows that fill no strip.
TEST(EmulatedDepthwise, TilesOfEveryWindow) {
  for (const auto& [element, type] : kTypes) {
    for (const int64_t kernel : {3, 5}) {
      for (const int64_t stride : {1, 2}) {
        for (const int run : stride == 1 ? std::array{4, 7} : std::array{2, 4}) {
          expect_tiles(depthwise_image(2, 40, 13, 11, kernel, stride, kernel / 2), element, type, run);
          for (const StreamEpilogue& epilogue : {kSwished, kHardSwished})
            expect_tiles(depthwise_image(1, 8, 8, 6, kernel, stride, 0), element, type, run, epilogue);
          expect_tiles(depthwise_image(1, 8, 17, 30, kernel, stride, 1), element, type, run);
        }
      }
    }
  }
}

TEST(EmulatedDepthwise, TilesOfWideWindows) {
  for (const auto& [element, type] : kTypes) {
    for (const int run : {4, 7}) {
      expect_tiles(depthwise_image(2, 40, 15, 11, 7, 1, 3), element, type, run);
      for (const StreamEpilogue& epilogue : {kSwished, kHardSwished})
        expect_tiles(depthwise_image(1, 8, 9, 8, 7, 1, 0), element, type, run, epilogue);
    }
  }
}

// Several tiles beside and below each other, and several images in one.
TEST(EmulatedDepthwise, ABlockTakesTileAfterTile) {
  emulator::set_multiprocessors(1);
  expect_tiles(depthwise_image(1, 8, 66, 61, 3, 1, 1), Element::kHalf, FloatType::kHalf, 4);
  expect_tiles(depthwise_image(2, 72, 37, 30, 3, 2, 1), Element::kHalf, FloatType::kHalf, 2);
  expect_tiles(depthwise_image(40, 40, 7, 7, 3, 1, 1), Element::kHalf, FloatType::kHalf, 7);
  expect_tiles(depthwise_image(64, 8, 3, 5, 5, 1, 2), Element::kBFloat16, FloatType::kBfloat16, 4);
  expect_tiles(depthwise_image(1, 8, 70, 61, 5, 1, 2), Element::kBFloat16, FloatType::kBfloat16, 7, kSwished);
  emulator::set_multiprocessors(132);
}

TEST(EmulatedDepthwise, TilesBeyondTheImage) {
  ConvolutionSize size = depthwise_image(1, 8, 8, 8, 3, 2, 0);
  size.output[1] = size.output[2] = 4;
  expect_tiles(size, Element::kHalf, FloatType::kHalf, 4);
  expect_tiles(depthwise_image(1, 8, 1, 2, 5, 1, 2), Element::kBFloat16, FloatType::kBfloat16, 7);
  expect_tiles(depthwise_image(0, 8, 4, 4, 3, 1, 1), Element::kHalf, FloatType::kHalf, 4);
}

/// An image whose pixel in the middle has `values`, and what the convolution with filters of a one amid
/// zeros, with its activation, makes of that pixel.
std::vector<double> middle_of(const std::vector<float>& values, const StreamEpilogue& epilogue) {
  const ConvolutionSize size = depthwise_image(1, 8, 3, 3, 3, 1, 1);
  std::vector<float> image(9 * 8);
  std::copy(values.begin(), values.end(), image.begin() + 4 * 8);
  std::vector<float> filters(9 * 8);
  std::fill_n(filters.begin() + 4 * 8, 8, 1.0F);
  const Tensor x(Element::kBFloat16, image);
  const Tensor w(Element::kFloat, filters);
  Output y(Element::kBFloat16, result_extents(size));
  expect_launch(kFewSchedules.front(), [&] {
    return depthwise_tiles({x.get(), w.get(), nullptr, y.get()}, FloatType::kBfloat16, size, epilogue, 4,
                           early());
  });
  std::vector<double> result;
  for (size_t i = 0; i < values.size(); ++i) result.push_back(y.value(4 * 8 + i));
  return result;
}

// Two channels share a reciprocal.
TEST(EmulatedDepthwise, WhatIsNoNumberStaysInItsChannel) {
  using testing::DoubleNear;
  using testing::ElementsAre;
  using testing::IsNan;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto near = [](double value) { return DoubleNear(value, 4e-3 * std::abs(value)); };
  EXPECT_THAT(middle_of({kNan, 1, -2, kNan, -1e30F, 1, -60, 3}, {StreamKind::kSwish, 1, 0, 0}),
              ElementsAre(IsNan(), near(0.7310586), near(-0.2384058), IsNan(), 0, near(0.7310586), 0,
                          near(2.8577224)));
  EXPECT_THAT(
      middle_of({-1e30F, -1e30F, 1e30F, -1e30F, kInfinity, 1, -40, 1e30F}, {StreamKind::kSwish, 1, 0, 0}),
      ElementsAre(0, 0, near(1e30), 0, kInfinity, near(0.7310586), near(-40 * std::exp(-40.0)), near(1e30)));
  EXPECT_THAT(
      middle_of({kNan, 1, -2, kNan, -1e30F, 7, -kInfinity, kInfinity}, {StreamKind::kBounds, 0, -1, 6}),
      ElementsAre(IsNan(), 1, -1, IsNan(), -1, 6, -1, 6));
}

TEST(EmulatedDepthwise, WhatHasNoTilesIsRefused) {
  const DeviceProperties limits;
  const StreamEpilogue relu{StreamKind::kBounds, 0, 0, 6};
  const auto refusal = [&](const ConvolutionSize& size, int run = 4) {
    return depthwise_tiles_refusal(size, FloatType::kHalf, relu, run, limits).text();
  };
  const ConvolutionSize image = depthwise_image(1, 16, 8, 8, 5, 2, 2);
  EXPECT_EQ(refusal(image), "");
  EXPECT_EQ(refusal(depthwise_image(1, 16, 8, 8, 7, 1, 3)), "");
  EXPECT_EQ(refusal(depthwise_image(1, 16, 8, 8, 7, 2, 3)),
            "its windows are not of 3 x 3 or 5 x 5 with strides of 1 or 2, nor of 7 x 7 with one of 1");
  EXPECT_EQ(refusal(depthwise_image(1, 12, 8, 8, 3, 1, 1)), "its channels are no multiple of 8");
  EXPECT_EQ(refusal(image, 7), "a thread takes 2 or 4 rows");
  EXPECT_EQ(depthwise_tiles_refusal(image, FloatType::kFloat, relu, 4, limits).text(), "only fp16 and bf16");
  for (const std::optional<StreamEpilogue>& more :
       {std::optional<StreamEpilogue>(), std::optional(StreamEpilogue{StreamKind::kAdd, 0, 0, 6})}) {
    EXPECT_EQ(depthwise_tiles_refusal(image, FloatType::kHalf, more, 4, limits).text(),
              "more follows it than bounds, a swish or a hard swish");
  }
  EXPECT_EQ(refusal(depthwise_image(1, 16, 8, 8, 3, 1, 1), 2), "a thread takes 4 or 7 rows");
  ConvolutionSize grouped = image;
  grouped.group = 8;
  EXPECT_EQ(refusal(grouped), "it is not depthwise");
  ConvolutionSize volume = image;
  volume.input[0] = volume.output[0] = 2;
  EXPECT_EQ(refusal(volume), "it is not of images");
  DeviceProperties other;
  other.shared_memory = 1 << 10;
  EXPECT_EQ(depthwise_tiles_refusal(image, FloatType::kHalf, relu, 4, other).text(),
            "its tiles are larger than the shared memory of a block");
  other.warpgroups = false;
  EXPECT_EQ(depthwise_tiles_refusal(image, FloatType::kHalf, relu, 4, other).text(),
            "it is for compute capability 9.0");
  EXPECT_EQ(depthwise_tiles({}, FloatType::kHalf, grouped, relu, 4, early()), cudaErrorInvalidValue);
  ConvolutionArguments misaligned;
  misaligned.input = reinterpret_cast<const void*>(8);
  EXPECT_EQ(depthwise_tiles(misaligned, FloatType::kHalf, image, relu, 4, early()),
            cudaErrorMisalignedAddress);
}

}  // namespace
}  // namespace hone::device::cuda::emulated
