// Convolutions for tests of configurations.
#pragma once

#include "device/cuda/plugin/kernels/common/conv_problem.hpp"

namespace hone::device::cuda {

/// Square images and windows, as much padding as half a window.
inline ConvProblem problem(int batch, int size, int channels, int filters, int kernel = 3, int stride = 1) {
  ConvProblem p;
  p.batch = batch;
  p.height = p.width = size;
  p.channels = channels;
  p.filters = filters;
  p.kernel_h = p.kernel_w = kernel;
  p.stride_h = p.stride_w = stride;
  p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = kernel / 2;
  return p;
}

}  // namespace hone::device::cuda
