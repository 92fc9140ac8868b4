// Checks of depthwise.hpp and direct_convolution.hpp.
#include <algorithm>
#include <cmath>
#include <limits>

#include "device/cuda/depthwise_sizes.hpp"
#include "device/cuda/plugin/kernels/convolution/direct_convolution.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "kernels_check.hpp"
#include "post_op_check.hpp"

namespace hone::device::cuda::check {
namespace {

enum class Launcher { kDepthwise, kDepthwiseTiles, kGrouped, kDirect };

struct Case {
  ConvolutionSize size;
  int strip = 0;  ///< or the rows of a thread; -1: two channels of a thread
  DirectTile tile = DirectTile::k64x64;
  size_t shift = 0;
};

/// Weights lie as [R][S][C], [K][D][R][S][C / group] and [R][S][C][K].
int64_t weight_position(Launcher launcher, const ConvolutionSize& size, int64_t k, int64_t tap, int64_t c) {
  const int64_t taps = size.kernel[0] * size.kernel[1] * size.kernel[2];
  if (launcher == Launcher::kDepthwise || launcher == Launcher::kDepthwiseTiles)
    return tap * size.out_channels + k;
  if (launcher == Launcher::kDirect) return (tap * size.in_channels + c) * size.out_channels + k;
  return (k * taps + tap) * (size.in_channels / size.group) + c;
}

double convolve(Launcher launcher, const ConvolutionSize& size, const Values& x, const Values& w, int64_t n,
                const int64_t (&at)[3], int64_t k) {
  const int64_t inputs = size.in_channels / size.group;
  const int64_t first = k / (size.out_channels / size.group) * inputs;
  double sum = 0;
  for (int64_t tap = 0; tap < size.kernel[0] * size.kernel[1] * size.kernel[2]; ++tap) {
    const int64_t taps[3] = {tap / (size.kernel[1] * size.kernel[2]), tap / size.kernel[2] % size.kernel[1],
                             tap % size.kernel[2]};
    int64_t pixel = n;
    bool inside = true;
    for (int i = 0; i < 3; ++i) {
      const int64_t p = at[i] * size.stride[i] - size.pad_begin[i] + taps[i] * size.dilation[i];
      inside = inside && p >= 0 && p < size.input[i];
      pixel = pixel * size.input[i] + p;
    }
    for (int64_t c = 0; inside && c < inputs; ++c)
      sum += x[pixel * size.in_channels + first + c] * w[weight_position(launcher, size, k, tap, c)];
  }
  return sum;
}

std::string text(const ConvolutionSize& size) {
  return "C" + std::to_string(size.in_channels) + " K" + std::to_string(size.out_channels) + " kernel " +
         std::to_string(size.kernel[1]) + " stride " + std::to_string(size.stride[1]) + " on " +
         std::to_string(size.input[1]) + "x" + std::to_string(size.input[2]);
}

/// Of a clip, a swish or nothing.
StreamEpilogue stream_of(const Epilogue& epilogue) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const PostOpLink& link = epilogue.links[0];
  if (epilogue.count == 0) return {StreamKind::kBounds, 0, -kInfinity, kInfinity};
  if (link.op == graph::PostOp::kSwish) return {StreamKind::kSwish, link.alpha, 0, 0};
  return {StreamKind::kBounds, 0, link.alpha, link.beta};
}

cudaError_t run(Launcher launcher, const ConvolutionArguments& arguments, FloatType type, const Case& test,
                const Epilogue& epilogue) {
  switch (launcher) {
    case Launcher::kDepthwise:
      return depthwise_convolution(arguments, type, test.size, epilogue, std::max(test.strip, 0),
                                   test.strip < 0, {});
    case Launcher::kDepthwiseTiles:
      return depthwise_tiles(arguments, type, test.size, stream_of(epilogue), test.strip, {.device = &gpu()});
    case Launcher::kGrouped: return grouped_convolution(arguments, type, test.size, epilogue, {});
    case Launcher::kDirect: return direct_convolution(arguments, test.size, epilogue, test.tile, {});
  }
  return cudaErrorInvalidValue;
}

void check_case(Family& family, Launcher launcher, const Case& test, FloatType type,
                const std::vector<PostOpLink>& ops) {
  const ConvolutionSize& size = test.size;
  const int64_t in_pixels = size.input[0] * size.input[1] * size.input[2];
  const int64_t out_pixels = size.output[0] * size.output[1] * size.output[2];
  const int64_t taps = size.kernel[0] * size.kernel[1] * size.kernel[2];
  const int64_t terms = taps * size.in_channels / size.group;
  const Values x(size.batch * in_pixels * size.in_channels, type, -1, 1, test.shift);
  const bool direct = launcher == Launcher::kGrouped || launcher == Launcher::kDirect;
  const Values w(terms * size.out_channels, direct ? type : FloatType::kFloat);
  const Values bias(size.out_channels, FloatType::kFloat);
  PostOpCase post(ops, size.batch, size.out_channels, out_pixels, type);
  Output y(size.batch * out_pixels * size.out_channels, type);
  const ConvolutionArguments arguments{x.get(), w.get(), static_cast<const float*>(bias.get()), y.get()};
  family.launched(run(launcher, arguments, type, test, post.epilogue), text(size));
  for (int64_t i = 0; i < size.batch * out_pixels; ++i) {
    const int64_t pixel = i % out_pixels;
    const int64_t at[3] = {pixel / (size.output[1] * size.output[2]), pixel / size.output[2] % size.output[1],
                           pixel % size.output[2]};
    for (int64_t k = 0; k < size.out_channels; ++k) {
      const double sum = convolve(launcher, size, x, w, i / out_pixels, at, k) + bias[k];
      y[i * size.out_channels + k] = post.apply(sum, i / out_pixels, k, i * size.out_channels + k);
    }
  }
  // Each of `terms` products and sums of magnitude at most terms rounds once; the post-ops here grow an error
  // at most fourfold and have a few ulp of their own.
  const auto n = static_cast<double>(terms + 1);
  family.compare(y, kFloatRoundoff * (4 * n * std::sqrt(n) + 64), text(size) + post.text());
}

}  // namespace

void check_depthwise() {
  Family family("depthwise convolution");
  std::vector<Case> cases = {{depthwise_image(2, 24, 9, 11, 7, 1, 3)},
                             {depthwise_image(1, 5, 10, 7, 3, 1, 1)},
                             {depthwise_image(1, 16, 8, 9, 3, 1, 1), 0, DirectTile::k64x64, 4},
                             {depthwise_image(1, 16, 9, 9, 3, 3, 0)},
                             {depthwise_image(0, 16, 9, 9, 3, 1, 1)}};
  cases.push_back({depthwise_image(1, 16, 12, 12, 3, 1, 2)});
  cases.back().size.dilation[1] = cases.back().size.dilation[2] = 2;
  for (const int64_t kernel : {3, 5}) {
    for (const int64_t stride : {1, 2}) {
      for (const int strip : {-1, 0, 1, 2, 4}) {
        cases.push_back({depthwise_image(2, 16, 13, 11, kernel, stride, kernel / 2), strip});
        cases.push_back({depthwise_image(1, 40, 8, 6, kernel, stride, 0), strip});
      }
    }
  }
  // More padding at the end than at the beginning, as SAME_UPPER makes.
  cases.push_back({depthwise_image(1, 8, 8, 8, 3, 2, 0)});
  cases.back().size.output[1] = cases.back().size.output[2] = 4;
  for (const FloatType type : kFloatTypes) {
    for (const Case& test : cases) {
      check_case(family, Launcher::kDepthwise, test, type, {});
      check_case(family, Launcher::kDepthwise, test, type, typical_post_ops());
    }
    for (const auto& ops : all_post_ops())
      check_case(family, Launcher::kDepthwise, {depthwise_image(2, 16, 5, 5, 3, 1, 1)}, type, ops);
  }
}

void check_depthwise_tiles() {
  Family family("depthwise convolution by tiles");
  DeviceProperties device;
  if (find_device_properties(0, device) != cudaSuccess || !device.warpgroups) return;
  std::vector<Case> cases;
  const auto add = [&](const ConvolutionSize& size) {
    for (const int run : depthwise_tile_runs(size)) cases.push_back({size, run});
  };
  for (const int64_t kernel : {3, 5}) {
    for (const int64_t stride : {1, 2}) {
      add(depthwise_image(2, 16, 13, 11, kernel, stride, kernel / 2));
      add(depthwise_image(1, 40, 8, 6, kernel, stride, 0));
      // More tiles than run at once, beside each other and below.
      add(depthwise_image(9, 136, 60, 61, kernel, stride, kernel / 2));
    }
  }
  add(depthwise_image(2, 16, 13, 11, 7, 1, 3));
  add(depthwise_image(1, 40, 8, 9, 7, 1, 0));
  add(depthwise_image(3, 136, 60, 61, 7, 1, 3));
  add(depthwise_image(0, 16, 9, 9, 3, 1, 1));
  // Several images in each.
  add(depthwise_image(70, 72, 7, 7, 7, 1, 3));
  add(depthwise_image(300, 200, 7, 7, 3, 1, 1));
  // More padding at the end than at the beginning, as SAME_UPPER makes.
  ConvolutionSize upper = depthwise_image(1, 8, 8, 8, 3, 2, 0);
  upper.output[1] = upper.output[2] = 4;
  add(upper);
  PostOpLink clip;
  clip.op = graph::PostOp::kClip;
  clip.alpha = -0.5f;
  clip.beta = 0.75f;
  PostOpLink swish;
  swish.op = graph::PostOp::kSwish;
  swish.alpha = 1;
  for (const FloatType type : {FloatType::kHalf, FloatType::kBfloat16}) {
    int turn = 0;
    for (const Case& test : cases) {
      ++turn;
      check_case(family, Launcher::kDepthwiseTiles, test, type,
                 turn % 3 == 0 ? std::vector<PostOpLink>() : std::vector{turn % 3 == 1 ? clip : swish});
    }
    for (const PostOpLink& op : {clip, swish})
      check_case(family, Launcher::kDepthwiseTiles, cases[0], type, {op});
  }
}

void check_grouped() {
  Family family("grouped convolution");
  ConvolutionSize grouped = depthwise_image(2, 12, 7, 9, 3, 2, 1);
  grouped.group = 3;
  grouped.out_channels = 6;
  ConvolutionSize volume = depthwise_image(1, 4, 5, 6, 3, 1, 1);
  volume.group = 1;
  volume.input[0] = 4;
  volume.kernel[0] = 2;
  volume.output[0] = 3;
  for (const FloatType type : kFloatTypes) {
    check_case(family, Launcher::kGrouped, {grouped}, type, typical_post_ops());
    check_case(family, Launcher::kGrouped, {volume}, type, {});
  }
}

void check_direct() {
  Family family("direct convolution");
  const auto make = [](ConvolutionSize size, int64_t in, int64_t out) {
    size.in_channels = in;
    size.out_channels = out;
    size.group = 1;
    return size;
  };
  ConvolutionSize dilated = make(depthwise_image(1, 1, 12, 11, 3, 1, 2), 8, 36);
  dilated.dilation[1] = 2;
  dilated.output[1] = 12;
  dilated.output[2] = 13;
  const ConvolutionSize sizes[] = {make(depthwise_image(2, 1, 9, 10, 3, 1, 1), 16, 72),
                                   make(depthwise_image(1, 1, 15, 15, 7, 2, 3), 3, 20),
                                   make(depthwise_image(3, 1, 7, 7, 1, 1, 0), 36, 132),
                                   make(depthwise_image(1, 1, 8, 8, 1, 2, 0), 5, 7),
                                   make(depthwise_image(1, 1, 9, 9, 3, 2, 1), 20, 33),
                                   dilated};
  for (const DirectTile tile : {DirectTile::k128x64, DirectTile::k64x64, DirectTile::k32x32}) {
    for (const ConvolutionSize& size : sizes) {
      check_case(family, Launcher::kDirect, {size, 0, tile}, FloatType::kFloat, {});
      check_case(family, Launcher::kDirect, {size, 0, tile}, FloatType::kFloat, typical_post_ops());
      check_case(family, Launcher::kDirect, {size, 0, tile, 4}, FloatType::kFloat, {});
    }
  }
  for (const auto& ops : all_post_ops())
    check_case(family, Launcher::kDirect, {sizes[0]}, FloatType::kFloat, ops);
}

}  // namespace hone::device::cuda::check
