// Convolutions of a channel each, for tests of the kernels that take ConvolutionSize.
#pragma once

#include "device/cuda/plugin/kernels/convolution/depthwise.hpp"

namespace hone::device::cuda {

/// Square windows, the same stride and padding on all sides.
inline ConvolutionSize depthwise_image(int64_t batch, int64_t channels, int64_t rows, int64_t columns,
                                       int64_t kernel, int64_t stride, int64_t pad) {
  ConvolutionSize size;
  size.batch = batch;
  size.in_channels = size.out_channels = size.group = channels;
  const int64_t input[] = {rows, columns};
  for (int i = 1; i < 3; ++i) {
    size.input[i] = input[i - 1];
    size.kernel[i] = kernel;
    size.stride[i] = stride;
    size.pad_begin[i] = pad;
    size.output[i] = (size.input[i] + 2 * pad - kernel) / stride + 1;
  }
  return size;
}

}  // namespace hone::device::cuda
