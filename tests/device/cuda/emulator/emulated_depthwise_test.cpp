// Depthwise convolutions by rows on the emulator.
#include <gtest/gtest.h>

#include "device/cuda/depthwise_sizes.hpp"
#include "device/cuda/emulator/emulated_kernels.hpp"

namespace hone::device::cuda::emulated {
namespace {

constexpr std::pair<Element, FloatType> kTypes[] = {{Element::kFloat, FloatType::kFloat},
                                                    {Element::kHalf, FloatType::kHalf},
                                                    {Element::kBFloat16, FloatType::kBfloat16}};

/// What a convolution of `size` gives of channels-last x, with weights [R][S][C].
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

/// Each channel is scaled, a shortcut is added, and a ReLU follows.
void expect_rows(const ConvolutionSize& size, Element element, FloatType type, int most_rows,
                 bool has_bias = true) {
  SCOPED_TRACE("kernel " + std::to_string(size.kernel[1]) + ", stride " + std::to_string(size.stride[1]) +
               ", " + std::to_string(size.input[1]) + " x " + std::to_string(size.input[2]) + " x " +
               std::to_string(size.in_channels) + ", " + std::to_string(most_rows) + " rows");
  const Extents extents = {size.batch, size.output[1], size.output[2], size.out_channels};
  const int64_t outputs = extents[0] * extents[1] * extents[2] * extents[3];
  const Tensor x(element, size.batch * size.input[1] * size.input[2] * size.in_channels, 3, 1);
  const Tensor w(Element::kFloat, size.kernel[1] * size.kernel[2] * size.in_channels, 2, 2);
  const Tensor bias(Element::kFloat, size.in_channels, 4, 3);
  const Tensor scale(Element::kFloat, size.in_channels, 2, 5);
  const Tensor shortcut(element, outputs, 5, 4);
  std::vector<double> expected = convolve(size, x.values, w.values);
  for (size_t i = 0; i < expected.size(); ++i) {
    if (has_bias) expected[i] += bias.values[i % size.in_channels];
    expected[i] = std::max(0.0, expected[i] * scale.values[i % size.in_channels] + shortcut.values[i]);
  }
  Epilogue epilogue{};
  epilogue.links[epilogue.count].kind = PostOpKind::kMul;
  epilogue.links[epilogue.count].channel_stride = 1;
  epilogue.links[epilogue.count++].operand = scale.get();
  epilogue.links[epilogue.count].kind = PostOpKind::kAdd;
  epilogue.links[epilogue.count].full = true;
  epilogue.links[epilogue.count++].operand = shortcut.get();
  epilogue.links[epilogue.count++].kind = PostOpKind::kRelu;
  expect_output({kFewSchedules.front()}, element, extents, expected, 0, [&](Output& y) {
    const ConvolutionArguments arguments{x.get(), w.get(), has_bias ? bias.floats() : nullptr, y.get()};
    LaunchOptions options;
    options.pdl = options.next_waits = true;
    return depthwise_rows(arguments, type, size, epilogue, most_rows, options);
  });
}

TEST(EmulatedDepthwise, RowsOfEveryWindow) {
  for (const auto& [element, type] : kTypes) {
    for (const int64_t kernel : {3, 5}) {
      for (const int64_t stride : {1, 2}) {
        // Some rows that are left over, and fewer than a thread takes.
        expect_rows(depthwise_image(2, 16, 13, 11, kernel, stride, kernel / 2), element, type, 4);
        expect_rows(depthwise_image(1, 12, 8, 6, kernel, stride, 0), element, type, 32, false);
      }
    }
  }
}

TEST(EmulatedDepthwise, RunsOfEveryLength) {
  for (int most = 2; most <= 14; ++most) {
    expect_rows(depthwise_image(1, 8, 14, 9, 3, 1, 1), Element::kHalf, FloatType::kHalf, most);
    expect_rows(depthwise_image(1, 8, 14, 9, 3, 2, 1), Element::kHalf, FloatType::kHalf, most);
    expect_rows(depthwise_image(1, 8, 14, 9, 5, 2, 2), Element::kHalf, FloatType::kHalf, most);
  }
}

// More padding at the end than at the beginning, as SAME_UPPER makes; an image smaller than a window.
TEST(EmulatedDepthwise, WindowsBeyondTheImage) {
  ConvolutionSize size = depthwise_image(1, 8, 8, 8, 3, 2, 0);
  size.output[1] = size.output[2] = 4;
  expect_rows(size, Element::kHalf, FloatType::kHalf, 3);
  expect_rows(depthwise_image(1, 8, 1, 2, 5, 1, 2), Element::kBFloat16, FloatType::kBfloat16, 4);
  expect_rows(depthwise_image(0, 8, 4, 4, 3, 1, 1), Element::kHalf, FloatType::kHalf, 4);
}

TEST(EmulatedDepthwise, WhatNoKernelDoesIsRefused) {
  const auto refusal = [](const ConvolutionSize& size) { return depthwise_rows_refusal(size, 8); };
  EXPECT_EQ(refusal(depthwise_image(1, 16, 8, 8, 5, 2, 2)), "");
  EXPECT_EQ(refusal(depthwise_image(1, 16, 8, 8, 7, 1, 3)),
            "its windows are not of 3 x 3 or 5 x 5 with strides of 1 or 2");
  EXPECT_EQ(refusal(depthwise_image(1, 16, 9, 9, 3, 3, 1)),
            "its windows are not of 3 x 3 or 5 x 5 with strides of 1 or 2");
  EXPECT_EQ(refusal(depthwise_image(1, 12, 8, 8, 3, 1, 1)), "");
  EXPECT_EQ(refusal(depthwise_image(1, 10, 8, 8, 3, 1, 1)), "its channels are no multiple of 4");
  ConvolutionSize grouped = depthwise_image(1, 16, 8, 8, 3, 1, 1);
  grouped.group = 8;
  EXPECT_EQ(refusal(grouped), "it is not depthwise");
  ConvolutionSize volume = depthwise_image(1, 16, 8, 8, 3, 1, 1);
  volume.input[0] = volume.output[0] = 2;
  EXPECT_EQ(refusal(volume), "it is not of images");
  EXPECT_EQ(depthwise_rows_refusal(depthwise_image(1, 16, 8, 8, 3, 1, 1), 1),
            "a thread takes 2 to 1024 rows");
  EXPECT_EQ(depthwise_rows({}, FloatType::kHalf, grouped, {}, 8, {}), cudaErrorInvalidValue);
  ConvolutionArguments misaligned;
  misaligned.input = reinterpret_cast<const void*>(8);
  EXPECT_EQ(depthwise_rows(misaligned, FloatType::kHalf, depthwise_image(1, 16, 8, 8, 3, 1, 1), {}, 8, {}),
            cudaErrorMisalignedAddress);
}

}  // namespace
}  // namespace hone::device::cuda::emulated
