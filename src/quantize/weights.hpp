// Weights as int8 with one scale for each output channel.
#pragma once

#include <vector>

#include "tensor/tensor.hpp"

namespace hone::quantize {

struct QuantizedWeights {
  /// int8, -127 to 127, of the weights' shape.
  tensor::Tensor integers;
  /// One for each entry of the axis.
  std::vector<float> scales;
};

/// Symmetric: scale[c] = max|w[c]| / 127, at least `least[c]` where that is given. A channel of zeros has the
/// least scale of the others, 1 where there are none. `axis` may be any; the weights are float32 and finite.
QuantizedWeights quantize_weights(const tensor::Tensor& weights, int64_t axis,
                                  const std::vector<float>& least = {});

/// For each entry of axis `out`, the sum over axis `in` of mean[i] times what rounding added to the weights
/// there. Where axis `in` has fewer entries than there are means, as in a convolution of groups, entry o of
/// `out` belongs to group o * groups / outs, and reads that group's means.
std::vector<double> rounding_shift(const tensor::Tensor& weights, const QuantizedWeights& quantized,
                                   int64_t out, int64_t in, const std::vector<double>& means);

}  // namespace hone::quantize
