// Checks of transposed_convolution.hpp.
#include "device/cuda/plugin/kernels/convolution/transposed_convolution.hpp"

#include <cmath>

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

/// Outputs that the window of the last input ends with, `cut` fewer.
ConvolutionSize complete(ConvolutionSize size, int64_t cut) {
  for (int d = 0; d < 3; ++d) {
    size.output[d] = (size.input[d] - 1) * size.stride[d] + (size.kernel[d] - 1) * size.dilation[d] + 1 -
                     size.pad_begin[d];
    if (size.output[d] > cut) size.output[d] -= cut;
  }
  return size;
}

int64_t volume(const int64_t (&sizes)[3]) { return sizes[0] * sizes[1] * sizes[2]; }

int64_t position(ImageOrder order, int64_t channels, int64_t pixels, int64_t n, int64_t c, int64_t p) {
  return order == ImageOrder::kPlain ? (n * channels + c) * pixels + p : (n * pixels + p) * channels + c;
}

/// The output position that the tap of an input adds to, or -1.
int64_t target(const ConvolutionSize& size, int64_t from, int64_t tap) {
  const int64_t at[3] = {from / (size.input[1] * size.input[2]), from / size.input[2] % size.input[1],
                         from % size.input[2]};
  const int64_t taps[3] = {tap / (size.kernel[1] * size.kernel[2]), tap / size.kernel[2] % size.kernel[1],
                           tap % size.kernel[2]};
  int64_t result = 0;
  for (int d = 0; d < 3; ++d) {
    const int64_t to = at[d] * size.stride[d] + taps[d] * size.dilation[d] - size.pad_begin[d];
    if (to < 0 || to >= size.output[d]) return -1;
    result = result * size.output[d] + to;
  }
  return result;
}

void check_case(Family& family, FloatType type, ImageOrder order, const ConvolutionSize& size,
                bool has_bias) {
  const int64_t read = volume(size.input), made = volume(size.output), taps = volume(size.kernel);
  const int64_t depth = size.in_channels / size.group, filters = size.out_channels / size.group;
  const Values x(size.batch * size.in_channels * read, type), w(size.in_channels * filters * taps, type);
  const Values bias(size.out_channels, FloatType::kFloat);
  Output y(size.batch * size.out_channels * made, type);
  const std::string what = "C" + std::to_string(size.in_channels) + " to " +
                           std::to_string(size.out_channels) + " kernel " + std::to_string(taps) +
                           " stride " + std::to_string(size.stride[2]);
  ConvolutionArguments arguments;
  arguments.input = x.get();
  arguments.weights = w.get();
  arguments.bias = has_bias ? static_cast<const float*>(bias.get()) : nullptr;
  arguments.output = y.get();
  family.launched(transposed_convolution(arguments, type, order, size, {}), what);
  for (int64_t n = 0; n < size.batch; ++n) {
    for (int64_t k = 0; k < size.out_channels; ++k) {
      for (int64_t p = 0; p < made; ++p)
        y[position(order, size.out_channels, made, n, k, p)] = has_bias ? bias[k] : 0;
      for (int64_t c = k / filters * depth; c < (k / filters + 1) * depth; ++c) {
        for (int64_t p = 0; p < read * taps; ++p) {
          const int64_t to = target(size, p / taps, p % taps);
          if (to < 0) continue;
          y[position(order, size.out_channels, made, n, k, to)] +=
              x[position(order, size.in_channels, read, n, c, p / taps)] *
              w[position(order, filters, taps, c, k % filters, p % taps)];
        }
      }
    }
  }
  // At most that many products of magnitude 1, and a bias, one after the other.
  const auto terms = static_cast<double>(depth * taps + 1);
  family.compare(y, kFloatRoundoff * 4 * terms * std::sqrt(terms), what);
}

}  // namespace

void check_transposed_convolution() {
  Family family("transposed convolution");
  ConvolutionSize doubling{.batch = 2, .in_channels = 24, .out_channels = 16};
  ConvolutionSize odd{.batch = 1, .in_channels = 6, .out_channels = 9, .group = 3};
  ConvolutionSize deep{.batch = 2, .in_channels = 4, .out_channels = 3};
  ConvolutionSize line{.batch = 3, .in_channels = 5, .out_channels = 8};
  ConvolutionSize depthwise{.batch = 1, .in_channels = 12, .out_channels = 12, .group = 12};
  const auto assign = [](int64_t(&to)[3], int64_t z, int64_t y, int64_t x) {
    to[0] = z;
    to[1] = y;
    to[2] = x;
  };
  assign(doubling.input, 1, 5, 7);
  assign(doubling.kernel, 1, 2, 2);
  assign(doubling.stride, 1, 2, 2);
  assign(odd.input, 1, 6, 5);
  assign(odd.kernel, 1, 3, 2);
  assign(odd.stride, 1, 2, 3);
  assign(odd.dilation, 1, 2, 1);
  assign(odd.pad_begin, 0, 1, 2);
  assign(deep.input, 3, 4, 2);
  assign(deep.kernel, 2, 3, 3);
  assign(deep.stride, 2, 1, 2);
  assign(deep.pad_begin, 1, 0, 1);
  assign(line.input, 1, 1, 11);
  assign(line.kernel, 1, 1, 4);
  assign(line.stride, 1, 1, 2);
  assign(line.pad_begin, 0, 0, 1);
  assign(depthwise.input, 1, 7, 7);
  assign(depthwise.kernel, 1, 4, 4);
  assign(depthwise.stride, 1, 2, 2);
  assign(depthwise.pad_begin, 0, 1, 1);
  for (const FloatType type : kFloatTypes) {
    for (const ImageOrder order : {ImageOrder::kPlain, ImageOrder::kChannelsLast}) {
      for (const bool has_bias : {false, true}) {
        check_case(family, type, order, complete(doubling, 0), has_bias);
        check_case(family, type, order, complete(odd, 1), has_bias);
        check_case(family, type, order, complete(deep, 1), has_bias);
        check_case(family, type, order, complete(line, 0), has_bias);
        check_case(family, type, order, complete(depthwise, 2), has_bias);
      }
    }
  }
}

}  // namespace hone::device::cuda::check
