// See dissolve.hpp.
#include "transform/dissolve.hpp"

#include <algorithm>

#include "graph/operator.hpp"
#include "graph/post_op.hpp"
#include "graph/region.hpp"
#include "reference/kernel.hpp"
#include "transform/fusion.hpp"

namespace hone::transform {
namespace {

using graph::Attributes;

/// The base operator of a fused operator, without post-ops; empty if there is none.
std::string base_operator(const std::string& op) {
  if (op == "FusedConv") return "Conv";
  if (op == "FusedGemm") return "Gemm";
  return op == "FusedMatMul" ? "MatMul" : "";
}

/// True if the node is a MatMul with optional bias and post-ops.
bool is_biased_product(const Node& node) {
  if (node.op == "FusedMatMul") return true;
  const Attributes& attributes = node.attributes;
  return (node.op == "Gemm" || node.op == "FusedGemm") && attributes.get_float("alpha") == 1 &&
         attributes.get_float("beta") == 1 && attributes.get_int("transA") == 0 &&
         attributes.get_int("transB") == 0;
}

bool adds_bias(const Node& node) { return is_biased_product(node) && node.has_input(2); }

/// The chained operations in order.
PostOps chain_of(const Node& node) {
  PostOps chain;
  if (adds_bias(node)) chain.add_binary("add", node.inputs[2]);
  if (node.op == "FusedElementwise" || !base_operator(node.op).empty()) chain.append(post_ops_of(node));
  return chain;
}

/// The post-ops with indices [first, last).
PostOps part_of(const PostOps& chain, size_t first, size_t last) {
  PostOps part;
  size_t extra = 0;
  for (size_t i = 0; i < last; ++i) {
    const bool binary = graph::is_binary(*graph::find_post_op(chain.ops[i]));
    if (i >= first) part.add(chain.ops[i], chain.alphas[i], chain.betas[i]);
    if (i >= first && binary) part.extras.push_back(chain.extras[extra]);
    if (binary) ++extra;
  }
  return part;
}

/// Makes `node` the operator `fused` with these post-ops, or the plain operator if there are none.
void give_post_ops(Node& node, const std::string& fused, const PostOps& post_ops) {
  if (!post_ops.ops.empty()) {
    set_post_ops(node, fused, post_ops);
    return;
  }
  node.op = base_operator(fused);
  for (const char* name : {"post_ops", "post_alphas", "post_betas"}) node.attributes.erase(name);
  node.inputs.resize(std::min(node.inputs.size(), first_extra(fused)));
}

/// Replaces dequantized weights by a constant. Returns false for any other node, and if only packed forms of
/// the weights exist.
bool compute_weights(Graph& graph, const Node& node) {
  if (node.op != "DequantizeLinear") return false;
  std::vector<const graph::Tensor*> inputs;
  for (const ValueId id : node.inputs) {
    inputs.push_back(id == kNoValue ? nullptr : graph.constant(id));
    if (id != kNoValue && inputs.back() == nullptr) return false;
  }
  graph.value(node.outputs[0]).constant = std::move(reference::run_node(node, std::move(inputs))[0]);
  return true;
}

Node node_of(std::string op, std::vector<ValueId> inputs) {
  Node node;
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  return node;
}

}  // namespace

size_t chained_ops(const Node& node) { return chain_of(node).ops.size(); }

std::array<Node, 2> split_chain(const Node& node, size_t inside, ValueId between) {
  const PostOps chain = chain_of(node);
  Node base = node;
  if (is_biased_product(node) && inside == 0) {
    base = node_of("MatMul", {node.inputs[0], node.inputs[1]});
  } else if (adds_bias(node)) {
    const PostOps kept = part_of(post_ops_of(node), 0, inside - 1);
    // Only a FusedMatMul adds a bias to a product.
    if (node.op == "FusedMatMul") set_post_ops(base, node.op, kept);
    if (node.op == "FusedGemm") give_post_ops(base, node.op, kept);
  } else {
    give_post_ops(base, node.op, part_of(chain, 0, inside));
  }
  base.outputs = {between};
  while (base.inputs.back() == kNoValue) base.inputs.pop_back();
  Node rest = node_of("FusedElementwise", {between});
  set_post_ops(rest, "FusedElementwise", part_of(chain, inside, chain.ops.size()));
  rest.outputs = node.outputs;
  for (Node* piece : {&base, &rest}) graph::complete_node(*piece);
  return {std::move(base), std::move(rest)};
}

std::vector<Node> pieces_of_region(Graph& graph, const Node& region) {
  const Graph body = graph::typed_body(graph, region);
  std::vector<ValueId> outer(body.values.size(), kNoValue);
  const auto place = [&](const std::vector<ValueId>& inner, const std::vector<ValueId>& ids) {
    for (size_t i = 0; i < inner.size(); ++i) outer[static_cast<size_t>(inner[i])] = ids[i];
  };
  place(body.inputs, region.inputs);
  place(body.outputs, region.outputs);
  const std::string stem = graph.value(region.outputs[0]).name;
  std::vector<Node> pieces = body.nodes;
  int added = 0;
  for (Node& piece : pieces) {
    for (const ValueId id : piece.outputs) {
      if (id == kNoValue || outer[static_cast<size_t>(id)] != kNoValue) continue;
      outer[static_cast<size_t>(id)] =
          graph.add_value(fmt::format("{}/{}", stem, added++), graph::TensorType(body.value(id).type));
    }
    for (auto* ids : {&piece.inputs, &piece.outputs}) {
      for (ValueId& id : *ids) id = id == kNoValue ? kNoValue : outer[static_cast<size_t>(id)];
    }
  }
  std::erase_if(pieces, [&](const Node& piece) { return compute_weights(graph, piece); });
  return pieces;
}

}  // namespace hone::transform
