// The convolutions that the implicit GEMM is checked and timed with.
#pragma once

#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm.hpp"

namespace hone::device::cuda::check {

struct Layer {
  std::string name;
  ConvProblem problem;
  int count = 1;      ///< how often the network has it
  bool adds = false;  ///< followed by a residual addition
};

inline ConvProblem square(int size, int channels, int filters, int kernel, int stride, int pad) {
  ConvProblem p;
  p.height = p.width = size;
  p.channels = channels;
  p.filters = filters;
  p.kernel_h = p.kernel_w = kernel;
  p.stride_h = p.stride_w = stride;
  p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = pad;
  return p;
}

/// The distinct convolutions of ResNet-50 at 224 x 224 after the stem.
inline std::vector<Layer> resnet50() {
  return {{"res2 1x1 64-64", square(56, 64, 64, 1, 1, 0), 1},
          {"res2 3x3 64-64", square(56, 64, 64, 3, 1, 1), 3},
          {"res2 1x1 64-256 +", square(56, 64, 256, 1, 1, 0), 3, true},
          {"res2 1x1 64-256", square(56, 64, 256, 1, 1, 0), 1},
          {"res2 1x1 256-64", square(56, 256, 64, 1, 1, 0), 2},
          {"res3 1x1 256-128", square(56, 256, 128, 1, 1, 0), 1},
          {"res3 3x3/2 128-128", square(56, 128, 128, 3, 2, 1), 1},
          {"res3 1x1 128-512 +", square(28, 128, 512, 1, 1, 0), 4, true},
          {"res3 1x1/2 256-512", square(56, 256, 512, 1, 2, 0), 1},
          {"res3 1x1 512-128", square(28, 512, 128, 1, 1, 0), 3},
          {"res3 3x3 128-128", square(28, 128, 128, 3, 1, 1), 3},
          {"res4 1x1 512-256", square(28, 512, 256, 1, 1, 0), 1},
          {"res4 3x3/2 256-256", square(28, 256, 256, 3, 2, 1), 1},
          {"res4 1x1 256-1024 +", square(14, 256, 1024, 1, 1, 0), 6, true},
          {"res4 1x1/2 512-1024", square(28, 512, 1024, 1, 2, 0), 1},
          {"res4 1x1 1024-256", square(14, 1024, 256, 1, 1, 0), 5},
          {"res4 3x3 256-256", square(14, 256, 256, 3, 1, 1), 5},
          {"res5 1x1 1024-512", square(14, 1024, 512, 1, 1, 0), 1},
          {"res5 3x3/2 512-512", square(14, 512, 512, 3, 2, 1), 1},
          {"res5 1x1 512-2048 +", square(7, 512, 2048, 1, 1, 0), 3, true},
          {"res5 1x1/2 1024-2048", square(14, 1024, 2048, 1, 2, 0), 1},
          {"res5 1x1 2048-512", square(7, 2048, 512, 1, 1, 0), 2},
          {"res5 3x3 512-512", square(7, 512, 512, 3, 1, 1), 2}};
}

/// MobileNetV2's 1x1 convolutions, and shapes at which index arithmetic goes wrong first.
inline std::vector<Layer> other_layers() {
  std::vector<Layer> layers;
  const int pointwise[][3] = {{112, 32, 16}, {112, 16, 96}, {56, 96, 24},  {56, 24, 144}, {56, 144, 24},
                              {28, 144, 32}, {28, 32, 192}, {28, 192, 32}, {14, 192, 64}, {14, 64, 384},
                              {14, 384, 64}, {14, 384, 96}, {14, 96, 576}, {14, 576, 96}, {7, 576, 160},
                              {7, 160, 960}, {7, 960, 160}, {7, 960, 320}, {7, 320, 1280}};
  for (const auto& [size, channels, filters] : pointwise) {
    layers.push_back({"mobilenet", square(size, channels, filters, 1, 1, 0)});
  }
  // More tiles than the warps of a GPU make at once.
  layers.push_back({"many pixels", square(112, 16, 96, 1, 1, 0)});
  layers.back().problem.batch = 8;
  layers.push_back({"one pixel", square(1, 8, 8, 1, 1, 0)});
  layers.push_back({"fully connected", square(1, 2048, 1000, 1, 1, 0)});
  layers.push_back({"8 to 8", square(13, 8, 8, 3, 1, 1)});
  layers.push_back({"24 to 40", square(17, 24, 40, 3, 2, 1)});
  layers.push_back({"40 to 24, 5x5", square(19, 40, 24, 5, 1, 2)});
  layers.push_back({"56 to 72, 5x5/2", square(23, 56, 72, 5, 2, 2)});
  layers.push_back({"7x7 over 8", square(30, 8, 64, 7, 2, 3)});
  layers.push_back({"no padding", square(12, 72, 136, 3, 1, 0)});
  layers.push_back({"stride 3", square(20, 16, 32, 3, 3, 0)});
  ConvProblem p = square(21, 24, 48, 3, 1, 2);
  p.dilation_h = p.dilation_w = 2;
  layers.push_back({"dilated", p});
  p = square(15, 40, 56, 3, 2, 0);
  p.width = 22;
  p.pad_top = 1;
  p.pad_right = 2;
  p.pad_bottom = 3;
  layers.push_back({"asymmetric pads", p});
  p = square(18, 16, 24, 1, 1, 0);
  p.kernel_w = 7;
  p.pad_left = p.pad_right = 3;
  layers.push_back({"1x7", p});
  p = square(18, 16, 24, 3, 1, 1);
  p.kernel_w = 2;
  p.stride_h = 2;
  p.dilation_w = 3;
  layers.push_back({"3x2, stride 2x1, dilation 1x3", p});
  p = square(9, 32, 32, 1, 1, 0);
  p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 1;
  layers.push_back({"1x1 with padding", p});
  p = square(11, 32, 32, 1, 1, 0);
  p.pad_bottom = p.pad_right = -2;
  layers.push_back({"1x1 with cropping", p});
  for (const int batch : {3, 8}) {
    Layer layer{"batch", square(13, 40, 72, 3, 1, 1)};
    layer.problem.batch = batch;
    layers.push_back(layer);
    layer.problem = square(7, 136, 88, 1, 1, 0);
    layer.problem.batch = batch;
    layers.push_back(layer);
  }
  return layers;
}

/// First convolutions of networks: ResNet, MobileNet, AlexNet, VGG, an uneven one, and one with 4 channels.
inline std::vector<Layer> stems() {
  std::vector<Layer> layers = {
      {"stem 7x7/2", square(224, 3, 64, 7, 2, 3)},    {"stem 3x3/2", square(224, 3, 32, 3, 2, 1)},
      {"stem 11x11/4", square(224, 3, 64, 11, 4, 2)}, {"stem 3x3/1", square(64, 3, 64, 3, 1, 1)},
      {"stem 5x5/2", square(60, 4, 24, 5, 2, 2)},     {"stem 3x3/2 of 1", square(28, 1, 16, 3, 2, 0)}};
  layers[4].problem.pad_right = 0;
  layers[4].problem.batch = 3;
  Layer tall{"stem 5x3/2, tall", square(60, 3, 40, 3, 2, 1)};
  tall.problem.height = 75;
  tall.problem.kernel_h = 5;
  tall.problem.pad_top = 2;
  layers.push_back(tall);
  // Blocks make several tiles, of more filters than one holds.
  layers.push_back({"stem 7x7/2, many", square(224, 3, 128, 7, 2, 3)});
  layers.back().problem.batch = 8;
  Layer wide{"stem 7x5 of 4", square(120, 4, 64, 7, 2, 3)};
  wide.problem.kernel_w = 5;
  wide.problem.stride_h = 1;
  layers.push_back(wide);
  return layers;
}

}  // namespace hone::device::cuda::check
