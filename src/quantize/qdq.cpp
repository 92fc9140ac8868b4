// See qdq.hpp.
#include "quantize/qdq.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>

#include "base/error.hpp"
#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "graph/verify.hpp"
#include "quantize/weights.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::Tensor;
using graph::ValueId;

/// Limit on biases, so that an accumulator that starts with one does not overflow.
constexpr double kMostBias = 0x1p30;

class Writer {
 public:
  Writer(const Graph& graph, const Placement& placement, const std::vector<ActivationScale>& scales,
         const QdqOptions& options)
      : source_(graph), placement_(placement), scales_(scales), options_(options), result_(graph) {
    for (const graph::Value& value : graph.values) names_.insert(value.name);
    for (const Node& node : graph.nodes) names_.insert(node.name);
  }

  Graph run() {
    quantize_values();
    for (const WeightedNode& weighted : placement_.weighted) quantize_weighted(weighted);
    for (Node& node : added_) result_.add_node(std::move(node));
    result_.sort_topologically();
    graph::infer_types(result_);
    graph::verify(result_, "quantizing");
    return std::move(result_);
  }

 private:
  std::string name(const std::string& stem) {
    std::string chosen = stem;
    for (size_t i = 1; !names_.insert(chosen).second; ++i) chosen = fmt::format("{}.{}", stem, i);
    return chosen;
  }

  ValueId constant(const std::string& stem, Tensor tensor) {
    return result_.add_constant(name(stem), std::move(tensor));
  }

  ValueId add(const char* op, const std::string& stem, std::vector<ValueId> inputs, int64_t axis = 1) {
    Node node;
    node.op = op;
    node.name = name(stem);
    node.inputs = std::move(inputs);
    node.outputs = {result_.add_value(name(stem + "_output"))};
    node.attributes.set("axis", axis);
    graph::complete_node(node);
    const ValueId output = node.outputs[0];
    added_.push_back(std::move(node));
    return output;
  }

  static Tensor zero_point_of(const ActivationScale& scale) {
    if (scale.form == IntegerForm::kSymmetric) return Tensor::scalar<int8_t>(0);
    return Tensor::scalar<uint8_t>(static_cast<uint8_t>(scale.scale.zero_point));
  }

  void quantize_values() {
    std::set<ValueId> read;
    for (const QuantizedRead& each : placement_.reads)
      read.insert(source_.nodes[static_cast<size_t>(each.node)].inputs[each.input]);
    for (size_t i = 0; i < placement_.values.size(); ++i) {
      const ValueId id = placement_.values[i].value;
      if (!read.contains(id)) continue;
      const std::string stem = source_.value(id).name;
      const ValueId scale = constant(stem + "_scale", Tensor::scalar<float>(scales_[i].scale.scale));
      const ValueId zero_point = constant(stem + "_zero_point", zero_point_of(scales_[i]));
      const ValueId integers = add("QuantizeLinear", stem + "_quantize", {id, scale, zero_point});
      dequantized_[id] = add("DequantizeLinear", stem + "_dequantize", {integers, scale, zero_point});
      data_scales_[id] = scales_[i].scale.scale;
    }
    for (const QuantizedRead& read : placement_.reads) {
      const auto node = static_cast<size_t>(read.node);
      result_.nodes[node].inputs[read.input] = dequantized_.at(source_.nodes[node].inputs[read.input]);
    }
  }

  void quantize_weighted(const WeightedNode& weighted) {
    const Node& node = source_.nodes[static_cast<size_t>(weighted.node)];
    Node& target = result_.nodes[static_cast<size_t>(weighted.node)];
    const Tensor& weights = *source_.constant(node.inputs[1]);
    const double data_scale = data_scales_.at(node.inputs[0]);
    const auto bias = bias_of(node, weights.shape()[static_cast<size_t>(weighted.axis)]);
    const bool integer_bias = options_.integer_bias && bias.has_value();
    QuantizedWeights quantized = quantize_weights(
        weights, weighted.axis,
        integer_bias ? least_scales(*bias, data_scale, weights, weighted.axis) : std::vector<float>{});
    if (const QuantizedWeights* rounded = rounded_for(node);
        rounded != nullptr && rounded->scales == quantized.scales)
      quantized = *rounded;
    const std::string stem = source_.value(node.inputs[1]).name;
    target.inputs[1] = dequantized_weights(stem, quantized, weighted.axis);
    if (!bias) return;
    const std::vector<double> corrected = corrected_bias(node, *bias, weights, quantized, weighted.axis);
    const ValueId written = integer_bias ? integer_bias_of(node, corrected, quantized.scales, data_scale)
                                         : float_bias_of(node, corrected);
    target.inputs.resize(std::max<size_t>(target.inputs.size(), 3), kNoValue);
    target.inputs[2] = written;
  }

  const QuantizedWeights* rounded_for(const Node& node) const {
    if (options_.rounded == nullptr) return nullptr;
    const auto found = options_.rounded->find(node.outputs[0]);
    return found == options_.rounded->end() ? nullptr : &found->second;
  }

  /// Returns one number for each output channel if the node has such a bias. A convolution without a bias
  /// gets zeros if they would be corrected.
  std::optional<std::vector<double>> bias_of(const Node& node, int64_t channels) const {
    if (node.op == "MatMul") return std::nullopt;
    if (!node.has_input(2)) {
      if (!is_corrected(node)) return std::nullopt;
      return std::vector<double>(static_cast<size_t>(channels * groups_beside(node)));
    }
    const Tensor& bias = *source_.constant(node.inputs[2]);
    // The bias of Gemm may have another shape that is broadcast.
    if (bias.rank() != 1 || bias.size() != channels * groups_beside(node)) return std::nullopt;
    return bias.to_double();
  }

  /// The weights of a transposed convolution have the channels of one group, but its bias has those of all
  /// groups.
  static int64_t groups_beside(const Node& node) {
    return node.op == "ConvTranspose" ? node.attributes.get_int("group") : 1;
  }

  bool is_corrected(const Node& node) const {
    // For a transposed convolution, the correction would depend on the position.
    return options_.means != nullptr && node.op != "ConvTranspose" && !means_of(node).empty();
  }

  const std::vector<double>& means_of(const Node& node) const {
    static const std::vector<double> kNone;
    const auto found = options_.means->find(node.inputs[0]);
    return found == options_.means->end() ? kNone : found->second;
  }

  /// Scales of weights below which the bias, in units of both scales, would exceed int32.
  static std::vector<float> least_scales(const std::vector<double>& bias, double data_scale,
                                         const Tensor& weights, int64_t axis) {
    const auto channels = static_cast<size_t>(weights.shape()[static_cast<size_t>(axis)]);
    std::vector<float> least(channels);
    for (size_t i = 0; i < bias.size(); ++i) {
      float& scale = least[i % channels];
      scale = std::max(scale, static_cast<float>(std::fabs(bias[i]) / (data_scale * kMostBias)));
    }
    return least;
  }

  ValueId dequantized_weights(const std::string& stem, const QuantizedWeights& quantized, int64_t axis) {
    const auto channels = static_cast<int64_t>(quantized.scales.size());
    const ValueId integers = constant(stem + "_quantized", quantized.integers);
    const ValueId scale = constant(stem + "_scale", Tensor::of<float>(quantized.scales, {channels}));
    const ValueId zero_point = constant(
        stem + "_zero_point", Tensor::of<int8_t>(std::vector<int8_t>(quantized.scales.size()), {channels}));
    return add("DequantizeLinear", stem + "_dequantize", {integers, scale, zero_point}, axis);
  }

  std::vector<double> corrected_bias(const Node& node, std::vector<double> bias, const Tensor& weights,
                                     const QuantizedWeights& quantized, int64_t axis) const {
    if (!is_corrected(node)) return bias;
    const int64_t in = weights.shape()[axis == 0 ? 1 : 0];
    const int64_t groups = node.op == "Conv" ? node.attributes.get_int("group") : 1;
    if (static_cast<int64_t>(means_of(node).size()) != in * groups)
      fail_bad_input("{} reads {} channels, and {} were calibrated", node.text(), in * groups,
                     means_of(node).size());
    const std::vector<double> shift =
        rounding_shift(weights, quantized, axis, axis == 0 ? 1 : 0, means_of(node));
    for (size_t i = 0; i < bias.size(); ++i) bias[i] -= shift[i];
    return bias;
  }

  ValueId integer_bias_of(const Node& node, const std::vector<double>& bias, const std::vector<float>& scales,
                          double data_scale) {
    std::vector<float> units(bias.size());
    std::vector<int32_t> integers(bias.size());
    for (size_t i = 0; i < bias.size(); ++i) {
      units[i] = static_cast<float>(data_scale * static_cast<double>(scales[i % scales.size()]));
      const double level = units[i] > 0 ? std::nearbyint(bias[i] / static_cast<double>(units[i])) : 0;
      integers[i] = static_cast<int32_t>(std::clamp(level, -2 * kMostBias + 1, 2 * kMostBias - 1));
    }
    const auto count = static_cast<int64_t>(bias.size());
    const std::string stem = bias_name(node);
    const ValueId id = constant(stem + "_quantized", Tensor::of<int32_t>(integers, {count}));
    const ValueId scale = constant(stem + "_scale", Tensor::of<float>(units, {count}));
    return add("DequantizeLinear", stem + "_dequantize", {id, scale}, 0);
  }

  ValueId float_bias_of(const Node& node, const std::vector<double>& bias) {
    std::vector<float> values(bias.begin(), bias.end());
    return constant(bias_name(node) + "_corrected",
                    Tensor::of<float>(values, {static_cast<int64_t>(values.size())}));
  }

  std::string bias_name(const Node& node) const {
    return node.has_input(2) ? source_.value(node.inputs[2]).name : node.name + "_bias";
  }

  const Graph& source_;
  const Placement& placement_;
  const std::vector<ActivationScale>& scales_;
  const QdqOptions& options_;
  Graph result_;
  std::unordered_set<std::string> names_;
  std::vector<Node> added_;
  std::map<ValueId, ValueId> dequantized_;
  std::map<ValueId, double> data_scales_;
};

}  // namespace

Target parse_target(std::string_view name) {
  if (name == "portable") return Target::kPortable;
  if (name == "cpu") return Target::kCpu;
  if (name == "cuda") return Target::kCuda;
  if (name == "tensorrt") return Target::kTensorrt;
  fail_usage("target '{}' is none of portable, cpu, cuda and tensorrt", name);
}

IntegerForm form_for(Target target, double low) {
  if (target == Target::kPortable || target == Target::kTensorrt) return IntegerForm::kSymmetric;
  if (low >= 0) return IntegerForm::kUnsigned;
  return target == Target::kCpu ? IntegerForm::kAsymmetric : IntegerForm::kSymmetric;
}

bool has_integer_bias(Target target) { return target != Target::kTensorrt; }

PlacementRules rules_of(Target target) {
  // Tensor maps and tiles need rows of a multiple of 16 bytes, which are 16 channels.
  return target == Target::kCuda ? PlacementRules{16, false} : PlacementRules{};
}

Graph with_qdq(const Graph& graph, const Placement& placement, const std::vector<ActivationScale>& scales,
               const QdqOptions& options) {
  return Writer(graph, placement, scales, options).run();
}

}  // namespace hone::quantize
