// Convolution in IEEE float with FFMA only, so that the precision fp32 does not depend on a library's choice.
#pragma once

#include "device/cuda/plugin/kernels/convolution/depthwise.hpp"

namespace hone::device::cuda {

/// Tiles: output pixels x output channels.
enum class DirectTile : uint8_t { k128x64, k64x64, k32x32 };

/// For channels-last float images with two spatial axes (depth 1) and one group. Weights are [R][S][C][K].
cudaError_t direct_convolution(const ConvolutionArguments& arguments, const ConvolutionSize& size,
                               const Epilogue& epilogue, DirectTile tile, const LaunchOptions& options);

}  // namespace hone::device::cuda
