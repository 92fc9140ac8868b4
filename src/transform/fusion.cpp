// See fusion.hpp: names, shapes, and the loop in which base nodes absorb their readers.
#include "transform/fusion.hpp"

#include <algorithm>

#include "graph/convolution_geometry.hpp"

namespace hone::transform {
namespace {

/// True if values of this shape extend along at most one axis, or there is one for each image and channel.
bool is_narrow(const graph::TensorType& type) {
  const auto wide = [](const graph::Dim& dim) { return !dim.is(1); };
  const auto begin = type.dims->begin();
  if (std::count_if(begin, type.dims->end(), wide) <= 1) return true;
  return type.dims->size() > 2 && std::none_of(begin + 2, type.dims->end(), wide);
}

/// Why a product with a constant matrix or filter cannot take these operands; empty if it can. Some devices
/// take a repeated operand only at certain sizes, such as batch 1. Otherwise they dissolve the node, which
/// needs the constant as it was before packing.
Refusal repeated_operand(const Graph& graph, const Node& base, const PostOps& post_ops) {
  if (base.inputs.size() < 2 || graph.constant(base.inputs[1]) == nullptr) return {};
  const graph::TensorType& result = graph.value(base.outputs[0]).type;
  for (const ValueId extra : post_ops.extras) {
    const graph::TensorType& type = graph.value(extra).type;
    if (!is_narrow(type) && !same_shape(type, result))
      return fmt::format("{} is repeated over {}", type.text(), result.text());
  }
  return {};
}

/// Absorbs the reader of base node `index`, at the reader's position; returns the reader's index on success.
std::optional<int32_t> absorb_reader(Editor& editor, int32_t index, FusedOperator fused_op,
                                     Summary& summary) {
  const Node base = editor.node(index);
  const ValueId result = base.outputs[0];
  const auto refuse = [&](const Node& reader, const Refusal& why) {
    summary.refuse(fmt::format("'{}' + '{}' not fused: {}", base.name, reader.name, why.text()));
    return std::nullopt;
  };
  const int32_t reader_index = editor.single_reader(result);
  if (reader_index < 0) {
    const size_t reads = editor.read_count(result);
    if (reads == 0) return std::nullopt;
    const Node& first = editor.node(editor.first_reader(result));
    if (!as_post_ops(editor.graph(), first, result).post_ops) return std::nullopt;
    if (reads == 1) return refuse(first, fmt::format("the result of '{}' is a graph output", base.name));
    return refuse(first, fmt::format("the result of '{}' has {} readers", base.name, reads));
  }
  const Node reader = editor.node(reader_index);
  const PostOpsOrReason found = as_post_ops(editor.graph(), reader, result);
  if (!found.post_ops) return !found.reason ? std::nullopt : refuse(reader, found.reason);
  if (Refusal why = repeated_operand(editor.graph(), base, *found.post_ops)) return refuse(reader, why);
  PostOps post_ops = post_ops_of(base);
  post_ops.append(*found.post_ops);
  if (post_ops.ops.size() > kMaxPostOps)
    return refuse(reader, fmt::format("a step holds {} post-ops at most", kMaxPostOps));
  Node fused = base;
  set_post_ops(fused, fused_op(editor, base), post_ops);
  fused.outputs = reader.outputs;
  join_names(fused, base, reader);
  summary.change(fmt::format("'{}' absorbed '{}' ({})", base.name, reader.name, reader.op));
  editor.remove(index);
  editor.replace(reader_index, std::move(fused));
  return reader_index;
}

const std::string& visible_name(const Node& node) { return node.name.empty() ? node.op : node.name; }

void append_sources(Node& node, const Node& part) {
  if (part.sources.empty()) {
    node.sources.push_back(visible_name(part));
    return;
  }
  node.sources.insert(node.sources.end(), part.sources.begin(), part.sources.end());
}

}  // namespace

size_t first_extra(const std::string& op) { return op == "FusedElementwise" ? 1 : 3; }

PostOps post_ops_of(const Node& node) {
  PostOps result;
  if (!node.attributes.has("post_ops")) return result;
  result.ops = node.attributes.get<std::vector<std::string>>("post_ops");
  result.alphas = node.attributes.get<std::vector<float>>("post_alphas");
  result.betas = node.attributes.get<std::vector<float>>("post_betas");
  for (size_t i = first_extra(node.op); i < node.inputs.size(); ++i) result.extras.push_back(node.inputs[i]);
  return result;
}

void set_post_ops(Node& node, const std::string& op, const PostOps& post_ops) {
  node.op = op;
  node.attributes.set("post_ops", post_ops.ops);
  node.attributes.set("post_alphas", post_ops.alphas);
  node.attributes.set("post_betas", post_ops.betas);
  const size_t first = first_extra(op);
  if (post_ops.extras.empty()) {
    if (node.inputs.size() > first) node.inputs.resize(first);
    return;
  }
  node.inputs.resize(first, kNoValue);
  node.inputs.insert(node.inputs.end(), post_ops.extras.begin(), post_ops.extras.end());
}

void PostOps::add(std::string op, float alpha, float beta) {
  ops.push_back(std::move(op));
  alphas.push_back(alpha);
  betas.push_back(beta);
}

void PostOps::add_binary(std::string op, ValueId extra) {
  add(std::move(op));
  extras.push_back(extra);
}

void PostOps::append(const PostOps& other) {
  ops.insert(ops.end(), other.ops.begin(), other.ops.end());
  alphas.insert(alphas.end(), other.alphas.begin(), other.alphas.end());
  betas.insert(betas.end(), other.betas.begin(), other.betas.end());
  extras.insert(extras.end(), other.extras.begin(), other.extras.end());
}

bool broadcasts_into(const graph::TensorType& from, const graph::TensorType& to) {
  if (!from.ranked() || !to.ranked() || from.dims->size() > to.dims->size()) return false;
  const size_t offset = to.dims->size() - from.dims->size();
  for (size_t i = 0; i < from.dims->size(); ++i) {
    const graph::Dim& dim = (*from.dims)[i];
    if (!dim.is(1) && !dim.same_as((*to.dims)[i + offset])) return false;
  }
  return true;
}

bool same_shape(const graph::TensorType& a, const graph::TensorType& b) {
  return broadcasts_into(a, b) && broadcasts_into(b, a);
}

bool all_are(const std::vector<int64_t>& values, int64_t expected) {
  return std::all_of(values.begin(), values.end(), [=](int64_t value) { return value == expected; });
}

bool is_convolution(const Graph& graph, const Node& node, const tensor::Shape& filters) {
  if (node.op != "Conv" && node.op != "FusedConv") return false;
  const auto& constant = graph.value(node.inputs[1]).constant;
  return constant && constant->shape() == filters;
}

Refusal bounded_convolution_refusal(const Graph& graph, const Node& node, size_t from, int64_t stride) {
  if (node.has_input(2) && !graph.value(node.inputs[2]).constant)
    return fmt::format("the bias of '{}' is not constant", node.name);
  const tensor::Shape& filters = graph.value(node.inputs[1]).constant->shape();
  const graph::Window window = graph::read_window(node.attributes, {filters[2], filters[3]});
  const int64_t pad = filters[2] / 2;
  if (node.attributes.get_int("group") != 1 || window.auto_pad != graph::AutoPad::kNotSet ||
      !all_are(window.strides, stride) || !all_are(window.dilations, 1) || !all_are(window.pads_begin, pad) ||
      !all_are(window.pads_end, pad))
    return fmt::format("'{}' has groups, dilations or other strides or padding", node.name);
  const PostOps post_ops = post_ops_of(node);
  const bool bounds =
      post_ops.ops.size() <= from ||
      (post_ops.ops.size() == from + 1 && (post_ops.ops[from] == "relu" || post_ops.ops[from] == "clip"));
  if (!bounds || post_ops.extras.size() != from)
    return fmt::format("'{}' ends with more than a Relu or Clip", node.name);
  return {};
}

Node derived_node(const Node& node, std::string op, std::vector<ValueId> inputs) {
  Node derived;
  derived.name = node.name;
  derived.op = std::move(op);
  derived.inputs = std::move(inputs);
  derived.outputs = {node.outputs[0]};
  derived.sources = node.sources;
  return derived;
}

void join_names(Node& node, const Node& first, const Node& second) { join_names(node, {&first, &second}); }

void join_names(Node& node, const std::vector<const Node*>& parts) {
  std::string name;
  Node sources;
  for (size_t i = 0; i < parts.size(); ++i) {
    append_sources(sources, *parts[i]);
    // A long pattern is named by its first and last node; its sources name all nodes.
    const bool shown = parts.size() <= 4 || i == 0 || i + 1 == parts.size();
    if (shown) name += (name.empty() ? "" : " + ") + visible_name(*parts[i]);
    if (!shown && i == 1) name += " + …";
  }
  node.name = std::move(name);
  node.sources = std::move(sources.sources);
}

Summary fuse_post_ops(Graph& graph, FusedOperator fused_op) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = editor.count() - 1; i >= 0; --i) {
    std::optional<int32_t> current = i;
    while (current && editor.alive(*current) && !fused_op(editor, editor.node(*current)).empty()) {
      current = absorb_reader(editor, *current, fused_op, summary);
    }
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
