// See weights.hpp.
#include "quantize/weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hone::quantize {
namespace {

using tensor::Tensor;

constexpr float kHighest = 127;

/// An axis of a tensor in row-major order.
struct Axis {
  Axis(const Tensor& tensor, int64_t axis) : length(tensor.shape()[static_cast<size_t>(axis)]) {
    for (size_t i = static_cast<size_t>(axis) + 1; i < tensor.shape().size(); ++i) inner *= tensor.shape()[i];
  }
  size_t entry(size_t element) const {
    return element / static_cast<size_t>(inner) % static_cast<size_t>(length);
  }
  int64_t length;
  int64_t inner = 1;
};

std::vector<float> channel_scales(const Tensor& weights, const Axis& axis, const std::vector<float>& least) {
  std::vector<float> scales(static_cast<size_t>(axis.length));
  const auto values = weights.values<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    float& scale = scales[axis.entry(i)];
    scale = std::max(scale, std::fabs(values[i]));
  }
  float smallest = std::numeric_limits<float>::infinity();
  for (float& scale : scales) {
    // A denormal scale would make quotients infinite.
    scale = scale > 0 ? std::max(scale / kHighest, std::numeric_limits<float>::min()) : 0;
    if (scale > 0) smallest = std::min(smallest, scale);
  }
  for (size_t c = 0; c < scales.size(); ++c) {
    if (scales[c] <= 0) scales[c] = std::isfinite(smallest) ? smallest : 1;
    if (!least.empty()) scales[c] = std::max(scales[c], least[c]);
  }
  return scales;
}

}  // namespace

QuantizedWeights quantize_weights(const Tensor& weights, int64_t axis, const std::vector<float>& least) {
  const Axis place(weights, axis);
  QuantizedWeights result{Tensor(tensor::DType::kInt8, weights.shape()),
                          channel_scales(weights, place, least)};
  const auto values = weights.values<float>();
  const auto integers = result.integers.mutable_values<int8_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    const float level = std::nearbyint(values[i] / result.scales[place.entry(i)]);
    integers[i] = static_cast<int8_t>(std::clamp(level, -kHighest, kHighest));
  }
  return result;
}

std::vector<double> rounding_shift(const Tensor& weights, const QuantizedWeights& quantized, int64_t out,
                                   int64_t in, const std::vector<double>& means) {
  const Axis outs(weights, out);
  const Axis ins(weights, in);
  const auto groups =
      static_cast<size_t>(std::max<int64_t>(static_cast<int64_t>(means.size()) / ins.length, 1));
  std::vector<double> shift(static_cast<size_t>(outs.length));
  const auto values = weights.values<float>();
  const auto integers = quantized.integers.values<int8_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t o = outs.entry(i);
    const size_t group = o * groups / static_cast<size_t>(outs.length);
    const double rounded = static_cast<double>(integers[i]) * static_cast<double>(quantized.scales[o]);
    shift[o] += (rounded - static_cast<double>(values[i])) *
                means[group * static_cast<size_t>(ins.length) + ins.entry(i)];
  }
  return shift;
}

}  // namespace hone::quantize
