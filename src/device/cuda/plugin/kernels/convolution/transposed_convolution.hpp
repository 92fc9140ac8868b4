// Transposed convolutions: the gradient of a convolution with respect to its input.
#pragma once

#include "device/cuda/plugin/kernels/convolution/depthwise.hpp"

namespace hone::device::cuda {

/// Any number of groups and any kernel. One thread computes one output: simple, not fast.
/// `size` is that of the transposed convolution itself: tap t of input i adds to output i
/// * stride + t * dilation - pad_begin. Input and output are in `order`. Weights have the
/// image's element type and the layout [C][K / group][D][R][S], or [C][D][R][S][K /
/// group] for channels-last, for C channels of the input and K of the output.
cudaError_t transposed_convolution(const ConvolutionArguments& arguments, FloatType type, ImageOrder order,
                                   const ConvolutionSize& size, const LaunchOptions& options);

}  // namespace hone::device::cuda
