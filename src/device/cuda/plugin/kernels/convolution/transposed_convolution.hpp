// Transposed convolutions: the gradient of a convolution with respect to its input.
#pragma once

#include "device/cuda/plugin/kernels/convolution/depthwise.hpp"

namespace hone::device::cuda {

/// Any group count and any kernel; one thread per output, correct rather than fast. `size` is that of the
/// transposed convolution itself: tap t of input i adds to output i * stride + t * dilation - pad_begin.
/// Input and output lie in `order`. Weights, of the image's element type: [C][K / group][D][R][S],
/// channels-last [C][D][R][S][K / group], for C channels of the input and K of the output.
cudaError_t transposed_convolution(const ConvolutionArguments& arguments, FloatType type, ImageOrder order,
                                   const ConvolutionSize& size, const LaunchOptions& options);

}  // namespace hone::device::cuda
