// The direct convolution of Conv, FusedConv, ConvTranspose, ConvInteger and QLinearConv.
//
// Sums are computed in double. The products of float operands are exact there, and the rounding error is far
// below that of float, so every fp32 convolution can be compared with the result, whatever its order of
// summation. Sums of 8-bit integer products are exact.
#pragma once

#include <functional>
#include <span>

#include "graph/convolution_geometry.hpp"

namespace hone::reference {

/// Receives the finished plane of one image and channel; called from several threads, once per plane.
using StorePlane = std::function<void(int64_t image, int64_t channel, std::span<const double> plane)>;

/// Convolves x [batch, in_channels, inputs...] with w [out_channels, in_channels / group, kernel...]; the
/// planes are those of out_channels.
void convolve(const graph::Convolution& conv, std::span<const double> x, std::span<const double> w,
              const StorePlane& store);

/// The transpose of the same linear map, for y [batch, out_channels, outputs...]; the planes are those of
/// in_channels.
void convolve_transposed(const graph::Convolution& conv, std::span<const double> y, std::span<const double> w,
                         const StorePlane& store);

}  // namespace hone::reference
