// Convolution in IEEE float: FFMA only, so that precision fp32 depends on no library's choice.
#pragma once

#include "device/cuda/plugin/kernels/convolution/depthwise.hpp"

namespace hone::device::cuda {

/// Tiles of output pixels by output channels.
enum class DirectTile : uint8_t { k128x64, k64x64, k32x32 };

/// Channels-last float images, two spatial axes (depth 1), one group. Weights [R][S][C][K].
cudaError_t direct_convolution(const ConvolutionArguments& arguments, const ConvolutionSize& size,
                               const Epilogue& epilogue, DirectTile tile, const LaunchOptions& options);

}  // namespace hone::device::cuda
