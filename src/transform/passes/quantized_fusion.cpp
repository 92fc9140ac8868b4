// Fuses regions of quantized numbers (graph/quantized_chain.hpp): a product, an average pool or elementwise
// operations between DequantizeLinear and QuantizeLinear, with the following elementwise operations and
// roundings. Afterwards, weights that no region uses are dequantized to constants.
#include <algorithm>

#include "graph/quantized_chain.hpp"
#include "graph/region.hpp"
#include "reference/kernel.hpp"
#include "transform/fusion.hpp"
#include "transform/quantized.hpp"
#include "transform/quantized_passes.hpp"
#include "transform/region.hpp"

namespace hone::transform {
namespace {

bool is_product(const Node& node) {
  const std::string& op = node.op;
  return op == "Conv" || op == "FusedConv" || op == "MatMul" || op == "FusedMatMul" || op == "Gemm" ||
         op == "FusedGemm";
}

bool is_pool(const Node& node) { return node.op == "AveragePool" || node.op == "GlobalAveragePool"; }

bool is_sum(const Node& node) { return node.op == "MatMulInteger" || node.op == "ConvInteger"; }

Node elementwise_node(const Node& node, ValueId main, const PostOps& post_ops) {
  Node fused = node;
  fused.attributes = {};
  fused.inputs = {main};
  set_post_ops(fused, "FusedElementwise", post_ops);
  return fused;
}

/// True if an operand has the result's shape, or varies only along its channels.
bool varies_along_channels(const graph::TensorType& operand, const graph::TensorType& result,
                           size_t channels) {
  if (same_shape(operand, result)) return true;
  if (!broadcasts_into(operand, result)) return false;
  const size_t offset = result.dims->size() - operand.dims->size();
  for (size_t i = 0; i < operand.dims->size(); ++i) {
    if (!(*operand.dims)[i].is(1) && i + offset != channels) return false;
  }
  return true;
}

/// True if an operand of images has one element for each channel, like the gate of squeeze and excitation.
bool is_one_a_channel(const graph::TensorType& operand, const graph::TensorType& result) {
  if (!operand.ranked() || !result.ranked() || result.dims->size() < 3) return false;
  if (operand.dims->size() != result.dims->size() || !(*operand.dims)[1].same_as((*result.dims)[1]))
    return false;
  if (!(*operand.dims)[0].is(1) && !(*operand.dims)[0].same_as((*result.dims)[0])) return false;
  return std::all_of(operand.dims->begin() + 2, operand.dims->end(),
                     [](const graph::Dim& dim) { return dim.is(1); });
}

/// Nodes that run one after the other on one value, and the nodes that dequantize their operands.
class Pattern {
 public:
  explicit Pattern(Editor& editor) : editor_(editor) {}

  /// Adds a node that produces an operand; several nodes of the pattern may read it.
  void add_operand(std::string role, Node node) {
    const auto is_same = [&](const Part& part) { return part.node.outputs[0] == node.outputs[0]; };
    if (std::any_of(operands_.begin(), operands_.end(), is_same)) return;
    operands_.push_back({std::move(role), std::move(node)});
  }
  size_t operand_count() const { return operands_.size(); }
  /// Adds a node of the graph, in the form that it has in the body.
  void add(const std::string& role, Node node, int32_t index) {
    chain_.push_back({role, std::move(node)});
    taken_.push_back(index);
  }
  /// A state of the pattern to which it can be reset.
  struct Mark {
    size_t chain;
    size_t operands;
  };
  Mark mark() const { return {chain_.size(), operands_.size()}; }
  void return_to(const Mark& mark) {
    chain_.resize(mark.chain);
    taken_.resize(mark.chain);
    operands_.resize(mark.operands);
  }
  size_t size() const { return chain_.size(); }
  const Node& last() const { return chain_.back().node; }

  /// Replaces the region's last node by the region.
  std::string replace(std::string_view kind) {
    std::vector<Part> parts = operands_;
    parts.insert(parts.end(), chain_.begin(), chain_.end());
    std::vector<ValueId> read;
    for (const Part& part : operands_) read.push_back(part.node.outputs[0]);
    Node region = make_region(std::string(kind), parts, {last().outputs[0]});
    // Only computing nodes are named, because the names of dequantizing ones would hide them.
    std::vector<const Node*> named;
    for (const Part& part : chain_) named.push_back(&part.node);
    join_names(region, named);
    const std::string name = region.name;
    for (size_t i = 0; i + 1 < taken_.size(); ++i) editor_.remove(taken_[i]);
    editor_.replace(taken_.back(), std::move(region));
    remove_unread(editor_, read);
    return name;
  }

 private:
  Editor& editor_;
  std::vector<Part> operands_;
  std::vector<Part> chain_;
  std::vector<int32_t> taken_;
};

class QuantizedFusion {
 public:
  explicit QuantizedFusion(Graph& graph) : editor_(graph) {}

  Summary run() {
    // If the results of two products are added, the later product absorbs the addition.
    for (int32_t i = editor_.count() - 1; i >= 0; --i) {
      if (editor_.alive(i) && is_product(editor_.node(i))) fuse_product(i);
    }
    for (int32_t i = 0; i < editor_.count(); ++i) {
      if (editor_.alive(i) && is_pool(editor_.node(i))) fuse_pool(i);
      if (editor_.alive(i) && is_sum(editor_.node(i))) fuse_sums(i);
    }
    for (int32_t i = editor_.count() - 1; i >= 0; --i) {
      if (editor_.alive(i) && quantizes_to_bytes(editor_, editor_.node(i))) fuse_map(i);
    }
    compute_weights();
    editor_.commit();
    return std::move(summary_);
  }

 private:
  const Graph& graph() const { return editor_.graph(); }

  const Node* weights_of(const Node& product) const {
    const Node* node = editor_.made_by(product.inputs[1], graph::kRegion);
    return node != nullptr && graph::kind_of(*node) == graph::kQuantizedWeights ? node : nullptr;
  }

  /// Why a product stays in floating point.
  Refusal product_refusal(const Node& product, const Node& weights) const {
    if (!dequantized_bytes(editor_, product.inputs[0]))
      return "its first operand is not dequantized by one constant scale";
    if (product.has_input(2) && graph().constant(product.inputs[2]) == nullptr) return "its bias is computed";
    const tensor::Shape& shape = graph().constant(weights.inputs[0])->shape();
    const auto rank = static_cast<int64_t>(shape.size());
    const bool conv = product.op == "Conv" || product.op == "FusedConv";
    const bool gemm = product.op == "Gemm" || product.op == "FusedGemm";
    if (gemm && (product.attributes.get_int("transA") != 0 || product.attributes.get_float("alpha") != 1 ||
                 product.attributes.get_float("beta") != 1))
      return "it has factors, or a transposed first operand";
    const bool transposed = gemm && product.attributes.get_int("transB") != 0;
    const int64_t channels = conv || transposed ? 0 : rank - 1;
    const Node& node = *graph::find_part(weights, "weights");
    const bool single = graph().constant(weights.inputs[1])->size() == 1;
    if (!single && tensor::normalize_axis(node.attributes.get_int("axis"), rank) != channels)
      return "the scales of its weights lie along another axis";
    if (conv ? rank < 4 : rank != 2) return "its weights are those of another operator";
    return {};
  }

  void fuse_product(int32_t index) {
    const Node product = editor_.node(index);
    const Node* weights = weights_of(product);
    if (weights == nullptr) return;
    if (const Refusal reason = product_refusal(product, *weights)) {
      summary_.refuse(fmt::format("'{}' stays in floating point: {}", product.name, reason.text()));
      return;
    }
    Pattern pattern(editor_);
    add_dequantized(pattern, "x", product.inputs[0]);
    Node unpacked = *graph::find_part(*weights, "weights");
    unpacked.inputs = weights->inputs;
    unpacked.outputs = weights->outputs;
    pattern.add_operand("w", std::move(unpacked));
    for (const ValueId extra : post_ops_of(product).extras) add_extra(pattern, extra);
    pattern.add("product", product, index);
    extend(pattern);
    const std::string name = pattern.replace(graph::kQuantizedProduct);
    summary_.change(fmt::format("'{}' computes with integers", name));
  }

  void add_dequantized(Pattern& pattern, std::string role, ValueId id) {
    pattern.add_operand(std::move(role), *editor_.made_by(id, "DequantizeLinear"));
  }

  void add_extra(Pattern& pattern, ValueId id) {
    if (dequantized_bytes(editor_, id))
      add_dequantized(pattern, fmt::format("operand{}", pattern.operand_count()), id);
  }

  /// Adds the following nodes as long as they end in a QuantizeLinear; there may be one or two roundings.
  void extend(Pattern& pattern) {
    size_t roundings = 0;
    while (roundings < kMostRoundings) {
      const Pattern::Mark begin = pattern.mark();
      if (roundings > 0 && !take_dequantization(pattern)) return;
      while (take_elementwise(pattern, roundings == 0)) {
      }
      if (!take_quantization(pattern)) return pattern.return_to(begin);
      ++roundings;
    }
  }

  /// The only reader of the pattern's result.
  int32_t next(const Pattern& pattern) const { return editor_.single_reader(pattern.last().outputs[0]); }

  bool take_quantization(Pattern& pattern) {
    const int32_t index = next(pattern);
    if (index < 0 || !quantizes_to_bytes(editor_, editor_.node(index))) return false;
    pattern.add(fmt::format("quantized{}", pattern.size()), editor_.node(index), index);
    return true;
  }

  bool take_dequantization(Pattern& pattern) {
    const int32_t index = next(pattern);
    if (index < 0 || editor_.node(index).op != "DequantizeLinear") return false;
    const Node& node = editor_.node(index);
    const Node& quantized = pattern.last();
    const auto from = dequantized_bytes(editor_, node.outputs[0]);
    if (!from || !same_scales(graph(), *from, {from->value, quantized.inputs[1], quantized.input(2)}))
      return false;
    Node own = node;
    // Copies of the same scale become one input of the region.
    own.inputs = quantized.inputs;
    own.inputs[0] = from->value;
    pattern.add(fmt::format("dequantized{}", pattern.size()), std::move(own), index);
    return true;
  }

  /// Adds an elementwise reader. The first ones may have operands in floating point.
  bool take_elementwise(Pattern& pattern, bool any_operand) {
    const int32_t index = next(pattern);
    if (index < 0) return false;
    const ValueId main = pattern.last().outputs[0];
    const auto fused = as_elementwise(editor_.node(index), main, any_operand);
    if (!fused) return false;
    for (const ValueId extra : post_ops_of(*fused).extras) add_extra(pattern, extra);
    pattern.add(fmt::format("elementwise{}", pattern.size()), *fused, index);
    return true;
  }

  /// The node as a FusedElementwise on `main`.
  std::optional<Node> as_elementwise(const Node& node, ValueId main, bool any_operand,
                                     Scaling scaling = Scaling::kConstantOrSameShape) {
    const PostOpsOrReason found = as_post_ops(graph(), node, main, scaling);
    if (!found.post_ops || found.post_ops->ops.empty()) return std::nullopt;
    for (const ValueId extra : found.post_ops->extras) {
      if (!any_operand && !dequantized_bytes(editor_, extra) && graph().constant(extra) == nullptr)
        return std::nullopt;
    }
    return elementwise_node(node, main, *found.post_ops);
  }

  /// Fuses integer sums that are converted to floats with the following elementwise operations.
  void fuse_sums(int32_t index) {
    const Node sums = editor_.node(index);
    const graph::TensorType& type = graph().value(sums.outputs[0]).type;
    if (graph().constant(sums.inputs[1]) == nullptr || !type.ranked() || type.dims->size() < 2) return;
    Pattern pattern(editor_);
    pattern.add("sums", sums, index);
    const int32_t cast = next(pattern);
    if (cast < 0 || editor_.node(cast).op != "Cast" ||
        dtype_of(editor_, editor_.node(cast).outputs[0]) != DType::kFloat32)
      return;
    pattern.add("numbers", editor_.node(cast), cast);
    const size_t channels = sums.op == "ConvInteger" ? 1 : type.dims->size() - 1;
    while (take_scaling(pattern, channels)) {
    }
    summary_.change(fmt::format("'{}' sums integers", pattern.replace(graph::kIntegerProduct)));
  }

  bool take_scaling(Pattern& pattern, size_t channels) {
    const int32_t index = next(pattern);
    if (index < 0) return false;
    const ValueId main = pattern.last().outputs[0];
    const Node& node = editor_.node(index);
    const PostOpsOrReason found = as_post_ops(graph(), node, main, Scaling::kAnyBroadcast);
    if (!found.post_ops || found.post_ops->ops.empty()) return false;
    for (const ValueId extra : found.post_ops->extras) {
      if (!varies_along_channels(graph().value(extra).type, graph().value(main).type, channels)) return false;
    }
    pattern.add(fmt::format("elementwise{}", pattern.size()), elementwise_node(node, main, *found.post_ops),
                index);
    return true;
  }

  void fuse_pool(int32_t index) {
    const Node pool = editor_.node(index);
    if (!dequantized_bytes(editor_, pool.inputs[0])) return;
    Pattern pattern(editor_);
    add_dequantized(pattern, "x", pool.inputs[0]);
    pattern.add("pool", pool, index);
    if (!take_quantization(pattern)) return;
    summary_.change(fmt::format("'{}' computes with integers", pattern.replace(graph::kQuantizedPool)));
  }

  /// One node of a map; the last node comes first.
  struct Link {
    std::string role;
    Node node;
    int32_t index;
    ValueId main;
  };

  /// The node that produces `id` by elementwise operations on `main`.
  std::optional<Link> link_on(ValueId id, ValueId main) {
    const int32_t index = editor_.producer(id);
    const graph::TensorType& type = graph().value(id).type;
    auto fused = as_elementwise(editor_.node(index), main, false, Scaling::kAnyBroadcast);
    if (!fused || !same_shape(graph().value(main).type, type)) return std::nullopt;
    for (const ValueId extra : post_ops_of(*fused).extras) {
      const bool fits = graph().constant(extra) != nullptr || same_shape(graph().value(extra).type, type) ||
                        is_one_a_channel(graph().value(extra).type, type);
      if (!fits) return std::nullopt;
    }
    return Link{"elementwise", std::move(*fused), index, main};
  }

  /// The operand through which a chain of bytes may continue: one that only this node reads or, without such
  /// an operand, a dequantized one.
  std::optional<Link> link_before(ValueId id) {
    const int32_t index = editor_.producer(id);
    if (index < 0 || !editor_.read_once(id)) return std::nullopt;
    std::optional<Link> found;
    for (const ValueId main : editor_.node(index).inputs) {
      if (main == kNoValue || graph().constant(main) != nullptr) continue;
      auto link = link_on(id, main);
      const bool goes_on = editor_.read_once(main) || dequantized_bytes(editor_, main);
      if (link && goes_on && (!found || !dequantized_bytes(editor_, main))) found = std::move(link);
    }
    return found;
  }

  /// The links from `id` back to dequantized bytes; empty if there are none.
  std::vector<Link> links_before(ValueId id) {
    std::vector<Link> links;
    while (!dequantized_bytes(editor_, id)) {
      auto link = link_before(id);
      if (!link || links.size() == kMaxPostOps) return {};
      id = link->main;
      links.push_back(std::move(*link));
    }
    return links;
  }

  bool is_function(const Link& link) const {
    const auto extras = post_ops_of(link.node).extras;
    return std::all_of(extras.begin(), extras.end(),
                       [&](ValueId extra) { return graph().constant(extra) != nullptr; });
  }

  /// If nothing else reads the bytes that `id` dequantizes, and they are a function of the bytes that `other`
  /// dequantizes, returns the links back to the latter.
  std::vector<Link> links_of_function(ValueId id, ValueId other) {
    const auto bytes = dequantized_bytes(editor_, id);
    const auto from = dequantized_bytes(editor_, other);
    if (!bytes || !from || !editor_.read_once(id) || !editor_.read_once(bytes->value)) return {};
    const int32_t rounding = editor_.producer(bytes->value);
    if (rounding < 0 || !quantizes_to_bytes(editor_, editor_.node(rounding))) return {};
    const Node& quantized = editor_.node(rounding);
    if (!same_scales(graph(), *bytes, {bytes->value, quantized.inputs[1], quantized.input(2)})) return {};
    std::vector<Link> function = links_before(quantized.inputs[0]);
    if (function.empty() ||
        !std::all_of(function.begin(), function.end(), [&](const Link& link) { return is_function(link); }))
      return {};
    const auto origin = dequantized_bytes(editor_, function.back().main);
    if (origin->value != from->value || !same_scales(graph(), *origin, *from)) return {};
    Node dequantized = editor_.node(editor_.producer(id));
    // Copies of the same scale become one input of the region.
    dequantized.inputs = quantized.inputs;
    dequantized.inputs[0] = bytes->value;
    std::vector<Link> links = {{"dequantized", std::move(dequantized), editor_.producer(id), bytes->value},
                               {"quantized", quantized, rounding, quantized.inputs[0]}};
    links.insert(links.end(), std::make_move_iterator(function.begin()),
                 std::make_move_iterator(function.end()));
    return links;
  }

  /// If the first operation combines bytes with a rounded function of the same bytes, as in x * sigmoid(x),
  /// includes the function, so that the map depends on only one byte.
  void take_function(std::vector<Link>& links) {
    const Link first = links.back();
    const auto extras = post_ops_of(first.node).extras;
    if (extras.size() != 1) return;
    for (const auto& [main, other] : {std::pair(first.main, extras[0]), std::pair(extras[0], first.main)}) {
      std::vector<Link> function = links_of_function(main, other);
      auto own = function.empty() ? std::nullopt : link_on(first.node.outputs[0], main);
      if (!own) continue;
      links.back() = std::move(*own);
      links.insert(links.end(), std::make_move_iterator(function.begin()),
                   std::make_move_iterator(function.end()));
      return;
    }
  }

  void fuse_map(int32_t index) {
    std::vector<Link> links = links_before(editor_.node(index).inputs[0]);
    if (links.empty() && !dequantized_bytes(editor_, editor_.node(index).inputs[0])) return;
    if (!links.empty()) take_function(links);
    Pattern pattern(editor_);
    add_dequantized(pattern, "x", links.empty() ? editor_.node(index).inputs[0] : links.back().main);
    std::reverse(links.begin(), links.end());
    for (const Link& link : links) {
      if (link.role == "elementwise") {
        for (const ValueId extra : post_ops_of(link.node).extras) add_extra(pattern, extra);
      }
      pattern.add(fmt::format("{}{}", link.role, pattern.size()), link.node, link.index);
    }
    pattern.add("quantized", editor_.node(index), index);
    summary_.change(fmt::format("'{}' computes with integers", pattern.replace(graph::kQuantizedMap)));
  }

  /// Dequantizes weights of products that compute in floating point.
  void compute_weights() {
    for (int32_t i = 0; i < editor_.count(); ++i) {
      if (!editor_.alive(i) || graph::kind_of(editor_.node(i)) != graph::kQuantizedWeights) continue;
      const Node region = editor_.node(i);
      std::vector<const Tensor*> inputs;
      for (const ValueId id : region.inputs) inputs.push_back(graph().constant(id));
      Node node = *graph::find_part(region, "weights");
      Tensor weights = std::move(reference::run_node(node, std::move(inputs))[0]);
      const ValueId constant =
          editor_.add_constant(graph().value(region.outputs[0]).name + ".numbers", std::move(weights));
      editor_.remove(i);
      editor_.redirect(region.outputs[0], constant);
      summary_.change(fmt::format("'{}' computed in floating point", region.name));
    }
  }

  /// Limit on roundings: of the product's result, and of the value computed from it.
  static constexpr size_t kMostRoundings = 2;

  Editor editor_;
  Summary summary_;
};

}  // namespace

Summary quantized_fusion(Graph& graph) { return QuantizedFusion(graph).run(); }

}  // namespace hone::transform
