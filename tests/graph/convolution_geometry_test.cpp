// Output sizes and explicit padding of sliding windows against a count of the windows that fit.
#include "graph/convolution_geometry.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace hone::graph {
namespace {

Attributes attributes_of(std::vector<std::pair<std::string, Attribute>> items) {
  Attributes attributes;
  for (auto& [name, value] : items) attributes.set(name, value);
  return attributes;
}

using Ints = std::vector<int64_t>;

std::string refusal(const Attributes& attributes, Ints kernel, int64_t input) {
  try {
    resolve_axis(read_window(attributes, std::move(kernel)), 0, input);
  } catch (const Error& error) {
    return error.sentence();
  }
  return {};
}

TEST(ConvolutionGeometry, CountsTheWindowsThatFit) {
  for (int64_t input = 1; input <= 9; ++input) {
    for (int64_t kernel = 1; kernel <= 3; ++kernel) {
      for (int64_t stride = 1; stride <= 3; ++stride) {
        for (int64_t dilation = 1; dilation <= 2; ++dilation) {
          for (int64_t pad = 0; pad <= 2; ++pad) {
            const int64_t extent = (kernel - 1) * dilation + 1;
            if (input + pad + 1 < extent) continue;
            int64_t expected = 0;
            int64_t ceiled = 0;
            for (int64_t start = -pad; start < input + 1; start += stride) {
              const int64_t overhang = start + extent - (input + 1);
              if (overhang <= 0) ++expected;
              if (overhang < stride && start < input) ++ceiled;
              if (overhang <= 0 && start >= input) ++ceiled;
            }
            const auto window = read_window(
                attributes_of(
                    {{"strides", Ints{stride}}, {"dilations", Ints{dilation}}, {"pads", Ints{pad, 1}}}),
                {kernel});
            EXPECT_EQ(resolve_axis(window, 0, input).output, expected);
            Window ceil = window;
            ceil.ceil_mode = true;
            EXPECT_EQ(resolve_axis(ceil, 0, input).output, ceiled)
                << input << " " << kernel << " " << stride << " " << dilation << " " << pad;
          }
        }
      }
    }
  }
}

TEST(ConvolutionGeometry, SamePaddingKeepsTheCeiledQuotient) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
    const auto window =
        read_window(attributes_of({{"auto_pad", std::string(mode)}, {"strides", Ints{2}}}), {4});
    const WindowAxis axis = resolve_axis(window, 0, 7);
    EXPECT_EQ(axis.output, 4);
    EXPECT_EQ(axis.pad_begin + axis.pad_end, 3);
    EXPECT_EQ(axis.pad_begin, std::string(mode) == "SAME_UPPER" ? 1 : 2);
  }
}

TEST(ConvolutionGeometry, SymbolsSurviveWhereTheSizeDoes) {
  const Dim height = Dim::symbol("height");
  const auto same = read_window(attributes_of({{"pads", Ints{1, 1}}}), {3});
  EXPECT_EQ(window_output(same, 0, height).symbol(), "height");
  const auto automatic = read_window(attributes_of({{"auto_pad", std::string("SAME_UPPER")}}), {4});
  EXPECT_EQ(window_output(automatic, 0, height).symbol(), "height");
  const auto strided = read_window(attributes_of({{"pads", Ints{1, 1}}, {"strides", Ints{2}}}), {3});
  EXPECT_EQ(window_output(strided, 0, height).text(), "?");
  EXPECT_EQ(window_output(strided, 0, 224).value(), 112);
}

TEST(ConvolutionGeometry, TapsAndOutputsInsideAgreeWithPositions) {
  const WindowAxis axis{
      .input = 5, .output = 4, .kernel = 3, .stride = 2, .dilation = 3, .pad_begin = 4, .pad_end = 3};
  for (int64_t tap = 0; tap < axis.kernel; ++tap) {
    for (int64_t o = 0; o < axis.output; ++o) {
      const int64_t position = axis.position(o, tap);
      const bool inside = position >= 0 && position < axis.input;
      const Range taps = taps_inside(axis, o);
      const Range outputs = outputs_inside(axis, tap);
      EXPECT_EQ(tap >= taps.begin && tap < taps.end, inside) << o << " " << tap;
      EXPECT_EQ(o >= outputs.begin && o < outputs.end, inside) << o << " " << tap;
    }
  }
}

TEST(ConvolutionGeometry, RefusesWhatItCannotDivideOrHold) {
  EXPECT_EQ(refusal(attributes_of({{"strides", Ints{0}}}), {3}, 8),
            "attribute 'strides' holds 0, expected at least 1");
  EXPECT_EQ(refusal(attributes_of({{"dilations", Ints{-1}}}), {3}, 8),
            "attribute 'dilations' holds -1, expected at least 1");
  EXPECT_EQ(refusal(attributes_of({{"pads", Ints{1, -1}}}), {3}, 8),
            "attribute 'pads' holds -1, expected at least 0");
  EXPECT_EQ(refusal(attributes_of({{"pads", Ints{1}}}), {3}, 8),
            "attribute 'pads' has 1 entries, expected 2");
  EXPECT_EQ(refusal({}, {0}, 8), "kernel size 0 of spatial axis 0 is not positive");
  EXPECT_EQ(refusal({}, {9}, 8), "a window of 9 does not fit spatial axis 0, 8 long with its padding");
  EXPECT_EQ(refusal(attributes_of({{"auto_pad", std::string("SAME")}}), {3}, 8),
            "attribute 'auto_pad' is 'SAME', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  const int64_t huge = int64_t{1} << 62;
  EXPECT_NE(refusal(attributes_of({{"dilations", Ints{huge}}}), {9}, 8), "");
  EXPECT_NE(refusal(attributes_of({{"pads", Ints{huge, huge}}}), {9}, huge), "");
}

TEST(ConvolutionGeometry, TransposedAxisIsTheForwardOneBackwards) {
  const auto attributes = attributes_of(
      {{"group", int64_t{2}}, {"strides", Ints{3}}, {"pads", Ints{1, 1}}, {"output_padding", Ints{1}}});
  const Ints x{2, 4, 5};
  const Ints w{4, 3, 4};
  const Convolution conv = read_transposed_convolution(attributes, x, w);
  EXPECT_EQ(conv.in_channels, 6);
  EXPECT_EQ(conv.out_channels, 4);
  EXPECT_EQ(conv.axes[0].input, 3 * 4 + 1 + 4 - 2);
  EXPECT_EQ(conv.axes[0].output, 5);
}

}  // namespace
}  // namespace hone::graph
