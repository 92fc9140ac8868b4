// The direct convolution of Conv, FusedConv, ConvTranspose, ConvInteger and QLinearConv.
//
// Sums are kept in double: the products of float operands are exact there and rounding is far below
// float's, so the result is the yardstick by which every fp32 convolution is measured, whatever its order
// of summation; and sums of 8-bit integer products are exact.
#pragma once

#include <functional>
#include <span>

#include "graph/convolution_geometry.hpp"

namespace hone::reference {

/// Receives the finished plane of one image and channel; called from several threads, once per plane.
using StorePlane = std::function<void(int64_t image, int64_t channel, std::span<const double> plane)>;

/// x [batch, in_channels, inputs...] with w [out_channels, in_channels / group, kernel...]; planes of
/// out_channels.
void convolve(const graph::Convolution& conv, std::span<const double> x, std::span<const double> w,
              const StorePlane& store);

/// The transpose of the same linear map: y [batch, out_channels, outputs...]; planes of in_channels.
void convolve_transposed(const graph::Convolution& conv, std::span<const double> y, std::span<const double> w,
                         const StorePlane& store);

}  // namespace hone::reference
