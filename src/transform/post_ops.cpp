// Decides which elementwise nodes can be post-ops: see as_post_ops in fusion.hpp.
#include <algorithm>
#include <cmath>
#include <limits>

#include "transform/constants.hpp"
#include "transform/fusion.hpp"

namespace hone::transform {
namespace {

PostOpsOrReason refused(Refusal reason) { return {std::nullopt, std::move(reason)}; }

PostOpsOrReason one(std::string op, float alpha = 0, float beta = 0) {
  PostOps post_ops;
  post_ops.add(std::move(op), alpha, beta);
  return {std::move(post_ops), {}};
}

std::optional<PostOps> unary(const Node& node) {
  const graph::Attributes& attributes = node.attributes;
  PostOps post_ops;
  if (node.op == "Relu") post_ops.add("relu");
  if (node.op == "LeakyRelu") post_ops.add("leaky_relu", attributes.get_float("alpha"));
  if (node.op == "Sigmoid") post_ops.add("sigmoid");
  if (node.op == "Tanh") post_ops.add("tanh");
  if (node.op == "HardSwish") post_ops.add("hard_swish");
  if (node.op == "HardSigmoid") {
    post_ops.add("hard_sigmoid", attributes.get_float("alpha"), attributes.get_float("beta"));
  }
  if (node.op == "Elu") post_ops.add("elu", attributes.get_float("alpha"));
  if (node.op == "Gelu") {
    post_ops.add(attributes.get_string("approximate") == "tanh" ? "gelu_tanh" : "gelu_erf");
  }
  if (node.op == "Softplus") post_ops.add("softplus");
  if (node.op == "Mish") post_ops.add("mish");
  if (post_ops.ops.empty()) return std::nullopt;
  return post_ops;
}

/// A bound of Clip, or `absent` if it has none. Nullopt if it is computed.
std::optional<float> clip_bound(const Graph& graph, ValueId id, float absent) {
  if (id == kNoValue) return absent;
  const auto value = scalar_constant(graph, id);
  if (!value) return std::nullopt;
  return static_cast<float>(*value);
}

PostOpsOrReason clip(const Graph& graph, const Node& node) {
  if (graph.value(node.inputs[0]).type.dtype == DType::kFloat64) {
    return refused("post-ops hold bounds in float32, which would round those of a float64 Clip");
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto low = clip_bound(graph, node.input(1), -kInfinity);
  const auto high = clip_bound(graph, node.input(2), kInfinity);
  if (!low || !high) return refused("a bound of Clip is computed at run time");
  if (std::isnan(*low) || std::isnan(*high)) return refused("a bound of Clip is NaN");
  // ONNX returns max if min is above max; devices differ in this case, so the bounds of a post-op never
  // cross.
  return one("clip", std::min(*low, *high), *high);
}

/// Why a product with `other` cannot be a post-op; empty if it can.
Refusal scaling_obstacle(const Graph& graph, ValueId other, ValueId main, Scaling scaling) {
  if (scaling == Scaling::kAnyBroadcast || graph.constant(other) != nullptr) return {};
  if (same_shape(graph.value(other).type, graph.value(main).type)) return {};
  return fmt::format("Mul by {} broadcasts: it stays an elementwise step", graph.value(other).type.text());
}

PostOpsOrReason binary(const Graph& graph, const Node& node, ValueId main, Scaling scaling) {
  const bool main_first = node.inputs[0] == main;
  const ValueId other = node.inputs[main_first ? 1 : 0];
  const graph::TensorType& type = graph.value(main).type;
  if (other == main) return refused(fmt::format("both operands of {} are its result", node.op));
  if (!broadcasts_into(graph.value(other).type, type)) {
    return refused(fmt::format("the other operand of {}, {}, does not surely broadcast into {}", node.op,
                               graph.value(other).type.text(), type.text()));
  }
  if (!main_first && node.op == "Sub") return refused("Sub takes the result as its second operand");
  PostOps post_ops;
  if (node.op == "Add") post_ops.add_binary("add", other);
  if (node.op == "Sub") post_ops.add_binary("sub", other);
  if (node.op == "Mul") {
    Refusal why = scaling_obstacle(graph, other, main, scaling);
    if (why) return refused(std::move(why));
    post_ops.add_binary("mul", other);
  }
  return {std::move(post_ops), {}};
}

PostOpsOrReason prelu(const Graph& graph, const Node& node, ValueId main) {
  const auto slope = scalar_constant(graph, node.inputs[1]);
  if (node.inputs[0] != main || !slope) return refused("the slope of PRelu is no single constant");
  return one("leaky_relu", static_cast<float>(*slope));
}

/// The post-ops of a fused elementwise node, if its extra inputs can be broadcast to the main one.
PostOpsOrReason fused(const Graph& graph, const Node& node, ValueId main, Scaling scaling) {
  if (node.inputs[0] != main)
    return refused(fmt::format("'{}' takes the result as an extra operand", node.name));
  PostOps post_ops = post_ops_of(node);
  size_t next = 0;
  for (const std::string& op : post_ops.ops) {
    if (op != "add" && op != "sub" && op != "mul") continue;
    const ValueId extra = post_ops.extras.at(next++);
    if (extra == main) return refused(fmt::format("'{}' reads the result twice", node.name));
    if (!broadcasts_into(graph.value(extra).type, graph.value(main).type)) {
      return refused(fmt::format("an extra operand of '{}' does not surely broadcast", node.name));
    }
    Refusal why = op == "mul" ? scaling_obstacle(graph, extra, main, scaling) : std::string();
    if (why) return refused(std::move(why));
  }
  return {std::move(post_ops), {}};
}

}  // namespace

PostOpsOrReason as_post_ops(const Graph& graph, const Node& node, ValueId main, Scaling scaling) {
  const graph::TensorType& type = graph.value(main).type;
  if (!tensor::is_floating(type.dtype)) return {};
  if (auto post_ops = unary(node)) return {std::move(post_ops), {}};
  if (node.op == "Clip") return node.inputs[0] == main ? clip(graph, node) : PostOpsOrReason{};
  if (node.op == "Add" || node.op == "Sub" || node.op == "Mul") return binary(graph, node, main, scaling);
  if (node.op == "PRelu") return prelu(graph, node, main);
  if (node.op == "FusedElementwise") return fused(graph, node, main, scaling);
  return {};
}

}  // namespace hone::transform
