// Writes quantization into a graph as the ONNX operators QuantizeLinear and DequantizeLinear.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "quantize/calibrators.hpp"
#include "quantize/gptq.hpp"
#include "quantize/placement.hpp"

namespace hone::quantize {

/// The kernels for which the result is made.
enum class Target {
  kPortable,  ///< int8 with zero points 0, which all kernels accept; biases int32
  kCpu,       ///< uint8, with a zero point if values can be negative; biases int32
  kCuda,      ///< uint8 if values cannot be negative, else int8; zero points 0; biases int32
  kTensorrt,  ///< int8 with zero points 0; biases float32, because TensorRT accepts no int32 biases
};
/// Usage error for an unknown name.
Target parse_target(std::string_view name);

/// The integer form of a value whose range begins at `low`, for this target.
IntegerForm form_for(Target target, double low);
bool has_integer_bias(Target target);
/// The products for which the target has integer kernels.
PlacementRules rules_of(Target target);

/// The scale of one quantized value, in the order of Placement::values.
struct ActivationScale {
  Scale scale;
  IntegerForm form = IntegerForm::kSymmetric;
};

/// Means of the channels that a weighted node reads, by the value that it reads; an empty list means no
/// correction.
using ChannelMeans = std::map<graph::ValueId, std::vector<double>>;

struct QdqOptions {
  bool integer_bias = true;
  /// Corrects biases for the error that rounded weights add to the mean of each output channel: b[oc] -= sum
  /// over ic of mean(x[ic]) * sum over taps of (Wq - W)[oc, ic, taps].
  const ChannelMeans* means = nullptr;
  /// Weights that were rounded with another method. If a bias needs a larger scale, the weights of its layer
  /// are still rounded to nearest.
  const RoundedWeights* rounded = nullptr;
};

/// Returns the graph with Q and DQ after each quantized value that a node reads as integers, weights as int8
/// with one scale for each output channel, and biases as int32 in units of both scales. A channel of zeros
/// gets the least scale of the others; a channel whose bias would exceed int32 gets a larger scale.
graph::Graph with_qdq(const graph::Graph& graph, const Placement& placement,
                      const std::vector<ActivationScale>& scales, const QdqOptions& options);

}  // namespace hone::quantize
