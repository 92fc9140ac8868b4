// Writes quantization into a graph as QuantizeLinear and DequantizeLinear of ONNX.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "quantize/calibrators.hpp"
#include "quantize/gptq.hpp"
#include "quantize/placement.hpp"

namespace hone::quantize {

/// Whose kernels the result is for.
enum class Target {
  kPortable,  ///< int8 with zero points 0 throughout, which all of them take; biases int32
  kCpu,       ///< uint8, with a zero point where values can be negative; biases int32
  kCuda,      ///< uint8 where values cannot be negative, else int8, zero points 0; biases int32
  kTensorrt,  ///< int8 with zero points 0; biases float32, since it takes no int32 ones
};
/// Usage error for another name.
Target parse_target(std::string_view name);

/// How a target has a value whose range begins at `low`.
IntegerForm form_for(Target target, double low);
bool has_integer_bias(Target target);
/// The products that the kernels of a target multiply as integers.
PlacementRules rules_of(Target target);

/// The scale of one quantized value, in the order of Placement::values.
struct ActivationScale {
  Scale scale;
  IntegerForm form = IntegerForm::kSymmetric;
};

/// Means of the channels that a weighted node reads, by the value it reads; empty ones do not correct
/// anything.
using ChannelMeans = std::map<graph::ValueId, std::vector<double>>;

struct QdqOptions {
  bool integer_bias = true;
  /// Corrects biases for the error that rounding the weights adds to the mean of each output channel: b[oc]
  /// -= sum over ic of mean(x[ic]) * sum over taps of (Wq - W)[oc, ic, taps].
  const ChannelMeans* means = nullptr;
  /// Weights that are rounded in another way than each to the nearest level. If a bias needs a larger scale,
  /// the weights of its layer are rounded to the nearest all the same.
  const RoundedWeights* rounded = nullptr;
};

/// The graph with Q and DQ after its quantized values for those that read integers, where any do, weights as
/// int8 and one scale for each output channel, and biases as int32 in units of both scales. A channel of
/// zeros has the least scale of the others; one whose bias would not fit int32 has a larger one.
graph::Graph with_qdq(const graph::Graph& graph, const Placement& placement,
                      const std::vector<ActivationScale>& scales, const QdqOptions& options);

}  // namespace hone::quantize
