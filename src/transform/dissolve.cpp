// See dissolve.hpp.
#include "transform/dissolve.hpp"

#include <algorithm>

#include "graph/convolution_geometry.hpp"
#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "graph/post_op.hpp"
#include "transform/fusion.hpp"

namespace hone::transform {
namespace {

using graph::Attributes;

/// The operator that a fused one is without post-ops; empty where there is none.
std::string base_operator(const std::string& op) {
  if (op == "FusedConv") return "Conv";
  if (op == "FusedGemm") return "Gemm";
  return op == "FusedMatMul" ? "MatMul" : "";
}

/// Whether the node is a MatMul, a bias that is added where there is one, and post-ops.
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

/// Those from the one numbered `first` to before `last`.
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

/// Makes `node` the operator `fused` with these post-ops, or the plain one where there are none.
void give_post_ops(Node& node, const std::string& fused, const PostOps& post_ops) {
  if (!post_ops.ops.empty()) {
    set_post_ops(node, fused, post_ops);
    return;
  }
  node.op = base_operator(fused);
  for (const char* name : {"post_ops", "post_alphas", "post_betas"}) node.attributes.erase(name);
  node.inputs.resize(std::min(node.inputs.size(), first_extra(fused)));
}

/// The attributes of a convolution in a node whose others begin with `prefix` or belong to its post-ops.
Attributes convolution_attributes(const Node& node, std::string_view prefix) {
  Attributes result;
  for (const auto& [name, value] : node.attributes) {
    if (!name.starts_with(prefix) && !name.starts_with("post_")) result.set(name, value);
  }
  return result;
}

/// The pieces of one node, as they are added.
class Pieces {
 public:
  Pieces(Graph& graph, const Node& whole) : graph_(graph), whole_(whole) {}

  /// A piece that makes `result`, or without one a value that is new.
  ValueId add(Node piece, ValueId result = kNoValue) {
    while (piece.inputs.back() == kNoValue) piece.inputs.pop_back();
    piece.outputs = {result};
    if (result == kNoValue)
      piece.outputs[0] =
          graph_.add_value(fmt::format("{}/{}", graph_.value(whole_.outputs[0]).name, nodes.size()));
    graph::complete_node(piece);
    graph::infer_node(graph_, piece);
    nodes.push_back(std::move(piece));
    return nodes.back().outputs[0];
  }

  /// A convolution with the activation of that prefix, behind the addition of `addend` where there is one.
  ValueId convolve(Attributes attributes, std::vector<ValueId> inputs, const char* prefix,
                   ValueId result = kNoValue, ValueId addend = kNoValue) {
    PostOps post_ops;
    if (addend != kNoValue) post_ops.add_binary("add", addend);
    Node activation;
    activation.attributes = whole_.attributes.part(prefix);
    post_ops.append(post_ops_of(activation));
    Node piece;
    piece.attributes = std::move(attributes);
    piece.inputs = std::move(inputs);
    give_post_ops(piece, "FusedConv", post_ops);
    return add(std::move(piece), result);
  }

  std::vector<Node> nodes;

 private:
  Graph& graph_;
  const Node& whole_;
};

Attributes padded(int64_t pad) {
  Attributes attributes;
  attributes.set("pads", std::vector<int64_t>(4, pad));
  return attributes;
}

Node node_of(std::string op, std::vector<ValueId> inputs, Attributes attributes = {}) {
  Node node;
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  return node;
}

/// The convolution of a node that pools what it makes, with its post-ops.
Node pooled_convolution(const Node& whole) {
  Node node = node_of("FusedConv", whole.inputs, whole.attributes);
  for (const auto& [name, value] : whole.attributes) {
    if (name.starts_with("pool_")) node.attributes.erase(name);
  }
  give_post_ops(node, "FusedConv", post_ops_of(node));
  return node;
}

void take_pooled(Pieces& pieces, const Node& whole) {
  const ValueId image = pieces.add(pooled_convolution(whole));
  Node pool = whole.op == "FusedConvMaxPool"
                  ? node_of("MaxPool", {image}, graph::max_pool_attributes(whole.attributes))
                  : node_of("GlobalAveragePool", {image});
  pieces.add(std::move(pool), whole.outputs[0]);
}

void take_stem(Pieces& pieces, const Node& whole) {
  Node pooled = node_of("FusedConvMaxPool", {whole.inputs[0], whole.inputs[1], whole.input(2)});
  for (const auto& [name, value] : whole.attributes) {
    if (!name.starts_with("next_")) pooled.attributes.set(name, value);
  }
  const ValueId image = pieces.add(std::move(pooled), whole.outputs[0]);
  pieces.convolve({}, {image, whole.inputs[3], whole.input(4)}, "next_", whole.outputs[1]);
}

void take_squeeze_excite(Pieces& pieces, const Node& whole) {
  const ValueId means = pieces.add(node_of("GlobalAveragePool", {whole.inputs[0]}));
  const ValueId hidden = pieces.convolve({}, {means, whole.inputs[1], whole.input(3)}, "squeeze_");
  const ValueId gate = pieces.convolve({}, {hidden, whole.inputs[2], whole.input(4)}, "gate_");
  pieces.add(node_of("Mul", {whole.inputs[0], gate}), whole.outputs[0]);
}

void take_bottleneck(Pieces& pieces, const Node& whole) {
  const bool projects = whole.has_input(8);
  const ValueId middle =
      pieces.convolve(padded(1), {whole.inputs[0], whole.inputs[1], whole.input(5)}, "window_");
  ValueId shortcut = whole.inputs[4];
  if (projects) shortcut = pieces.add(node_of("Conv", {shortcut, whole.inputs[8], whole.input(9)}));
  const ValueId wide =
      pieces.convolve({}, {middle, whole.inputs[2], whole.input(6)}, "wide_", whole.outputs[0], shortcut);
  if (whole.has_input(3))
    pieces.convolve({}, {wide, whole.inputs[3], whole.input(7)}, "narrow_", whole.outputs[1]);
}

void take_sum(Pieces& pieces, const Node& whole) {
  const ValueId other =
      pieces.add(node_of("Conv", {whole.inputs[2], whole.inputs[3]}, whole.attributes.part("second_")));
  pieces.convolve(convolution_attributes(whole, "second_"),
                  {whole.inputs[0], whole.inputs[1], whole.input(4)}, "", whole.outputs[0], other);
}

using TakePattern = void (*)(Pieces&, const Node&);

/// Null for an operator that is no pattern.
TakePattern find_pattern(std::string_view op) {
  constexpr std::pair<std::string_view, TakePattern> kPatterns[] = {
      {"FusedConvMaxPool", take_pooled},
      {"FusedConvGlobalPool", take_pooled},
      {"FusedStem", take_stem},
      {"FusedSqueezeExcite", take_squeeze_excite},
      {"FusedBottleneck", take_bottleneck},
      {"FusedConvSum", take_sum}};
  for (const auto& [name, take] : kPatterns) {
    if (name == op) return take;
  }
  return nullptr;
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
    // A FusedMatMul is what adds a bias to a product.
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

bool is_pattern(const Node& node) { return find_pattern(node.op) != nullptr; }

std::vector<Node> pieces_of_pattern(Graph& graph, const Node& node) {
  Pieces pieces(graph, node);
  find_pattern(node.op)(pieces, node);
  return std::move(pieces.nodes);
}

}  // namespace hone::transform
