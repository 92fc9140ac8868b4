// Weights as int8 with one scale for each output channel.
#pragma once

#include <vector>

#include "tensor/tensor.hpp"

namespace hone::quantize {

struct QuantizedWeights {
  /// int8 from -127 to 127, with the shape of the weights.
  tensor::Tensor integers;
  /// One for each entry of the axis.
  std::vector<float> scales;
};

/// Symmetric quantization: scale[c] = max|w[c]| / 127, but at least `least[c]` if that is given. A channel of
/// zeros gets the least scale of the others, or 1 if there are none. `axis` can be any axis; the weights must
/// be float32 and finite.
QuantizedWeights quantize_weights(const tensor::Tensor& weights, int64_t axis,
                                  const std::vector<float>& least = {});

/// Returns for each entry of axis `out` the sum over axis `in` of mean[i] times the rounding error of the
/// weights there. If axis `in` has fewer entries than there are means, as in a grouped convolution, entry o
/// of `out` belongs to group o * groups / outs and uses the means of that group.
std::vector<double> rounding_shift(const tensor::Tensor& weights, const QuantizedWeights& quantized,
                                   int64_t out, int64_t in, const std::vector<double>& means);

}  // namespace hone::quantize
