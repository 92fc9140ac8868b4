// The sizes of a convolution in the form of kernels without tensor cores.
#pragma once

#include "device/cuda/plugin/kernels/convolution/depthwise.hpp"
#include "graph/convolution_geometry.hpp"

namespace hone::device::cuda {

/// Missing axes get size one.
inline ConvolutionSize convolution_size(const graph::Convolution& geometry) {
  ConvolutionSize size;
  size.batch = geometry.batch;
  size.in_channels = geometry.in_channels;
  size.out_channels = geometry.out_channels;
  size.group = geometry.group;
  const size_t first = 3 - geometry.axes.size();
  for (size_t i = 0; i < geometry.axes.size(); ++i) {
    const graph::WindowAxis& axis = geometry.axes[i];
    size.input[first + i] = axis.input;
    size.output[first + i] = axis.output;
    size.kernel[first + i] = axis.kernel;
    size.stride[first + i] = axis.stride;
    size.dilation[first + i] = axis.dilation;
    size.pad_begin[first + i] = axis.pad_begin;
  }
  return size;
}

}  // namespace hone::device::cuda
