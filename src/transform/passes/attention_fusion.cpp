// Fuses scaled dot-product attention, from the first product to the second, including the transpositions,
// slices and reshapes that only arrange its operands.
#include <algorithm>

#include "graph/attention.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"
#include "transform/region.hpp"

namespace hone::transform {
namespace {

/// Limit on the maskings between the first product and the softmax, for example a position bias and one or
/// two masks.
constexpr size_t kMostMasks = 4;

/// A sum of the scores and another value, or a Where that replaces some scores by a constant.
struct Masking {
  int32_t index = -1;
  ValueId mask = kNoValue;
  size_t scores = 0;  ///< index of the scores among the node's operands
  /// The Reshape nodes before and after it, or -1.
  int32_t there = -1;
  int32_t back = -1;
};

/// A product of the scores and a constant with one value for each matrix, for example one for each head in
/// cosine attention.
struct MatrixFactor {
  int32_t index = -1;
  ValueId factor = kNoValue;
  ValueId scores = kNoValue;
};

/// The nodes of a pattern in the order in which they run, without views.
struct Found {
  int32_t product = -1;
  double scale = 1;
  std::vector<int32_t> scalings;
  std::vector<MatrixFactor> factors;
  std::vector<Masking> maskings;  ///< the last one first
  int32_t softmax = -1;
  /// Nodes that replace weights that are NaN by zeros, or -1: IsNaN, and the Where that uses it.
  int32_t nan = -1;
  int32_t guard = -1;
  int32_t result = -1;
  int32_t transpose = -1;  ///< of the result, or -1
  ValueId q = kNoValue;
  ValueId k = kNoValue;
  ValueId v = kNoValue;
};

/// The scalar factor of a Mul, and the other operand.
std::optional<std::pair<double, ValueId>> scaling(const Editor& editor, ValueId id) {
  const Node* product = editor.made_by(id, "Mul");
  if (product == nullptr) return std::nullopt;
  for (const size_t i : {0, 1}) {
    const auto factor = scalar_constant(editor.graph(), product->inputs[i]);
    if (factor &&
        same_shape(editor.graph().value(id).type, editor.graph().value(product->inputs[1 - i]).type))
      return std::pair(*factor, product->inputs[1 - i]);
  }
  return std::nullopt;
}

std::optional<MatrixFactor> matrix_factor(const Editor& editor, int32_t index) {
  const Graph& graph = editor.graph();
  const Node& product = editor.node(index);
  if (product.op != "Mul") return std::nullopt;
  for (const size_t i : {0, 1}) {
    const graph::Tensor* factor = graph.constant(product.inputs[i]);
    if (factor == nullptr || factor->shape().size() < 2) continue;
    const tensor::Shape& shape = factor->shape();
    const ValueId scores = product.inputs[1 - i];
    if (shape.back() == 1 && shape[shape.size() - 2] == 1 &&
        same_shape(graph.value(scores).type, graph.value(product.outputs[0]).type))
      return MatrixFactor{index, product.inputs[i], scores};
  }
  return std::nullopt;
}

/// Adds the scalings of this operand of the first product.
void take_scaling(const Editor& editor, ValueId& id, Found& found) {
  while (const auto scaled = scaling(editor, id)) {
    found.scale *= scaled->first;
    found.scalings.push_back(editor.producer(id));
    id = scaled->second;
  }
}

/// An addition while the scores are reshaped to other leading dimensions, as in masking of windows of images;
/// node `index` restores the shape.
std::optional<Masking> reshaped_addition(const Editor& editor, int32_t index) {
  const Graph& graph = editor.graph();
  const Node& back = editor.node(index);
  const Node* sum = back.op == "Reshape" ? editor.made_by(back.inputs[0], "Add") : nullptr;
  if (sum == nullptr || !editor.read_once(sum->outputs[0])) return std::nullopt;
  const graph::TensorType& type = graph.value(back.outputs[0]).type;
  const graph::TensorType& added = graph.value(sum->outputs[0]).type;
  if (!type.fully_known() || !added.fully_known()) return std::nullopt;
  for (const size_t i : {0, 1}) {
    const Node* there = editor.made_by(sum->inputs[i], "Reshape");
    if (there != nullptr && editor.read_once(there->outputs[0]) &&
        same_shape(graph.value(there->inputs[0]).type, type) &&
        same_shape(graph.value(there->outputs[0]).type, added)) {
      return Masking{editor.producer(sum->outputs[0]), sum->inputs[1 - i], i, editor.producer(sum->inputs[i]),
                     index};
    }
  }
  return std::nullopt;
}

bool may_be_scores(const Editor& editor, ValueId id, const graph::TensorType& scores) {
  return same_shape(editor.graph().value(id).type, scores) && editor.producer(id) >= 0 &&
         editor.read_once(id);
}

/// The masking that node `index` applies to the scores.
std::optional<Masking> masking(const Editor& editor, int32_t index, const graph::TensorType& scores) {
  const Node& node = editor.node(index);
  if (node.op == "Add") {
    const size_t main = may_be_scores(editor, node.inputs[0], scores) ? 0 : 1;
    if (!may_be_scores(editor, node.inputs[main], scores)) return std::nullopt;
    return Masking{index, node.inputs[1 - main], main};
  }
  if (node.op != "Where") return std::nullopt;
  const size_t main = scalar_constant(editor.graph(), node.inputs[1]) ? 2 : 1;
  if (!scalar_constant(editor.graph(), node.inputs[3 - main]) ||
      !may_be_scores(editor, node.inputs[main], scores))
    return std::nullopt;
  return Masking{index, node.inputs[0], main};
}

/// Follows the input of the softmax back to the first product; returns false if another node is in between.
bool find_product(const Editor& editor, ValueId id, Found& found) {
  const graph::TensorType& scores = editor.graph().value(id).type;
  while (editor.read_once(id)) {
    const int32_t index = editor.producer(id);
    if (index < 0) return false;
    const Node& node = editor.node(index);
    if (node.op == "MatMul") {
      found.product = index;
      return true;
    }
    if (const auto scaled = scaling(editor, id)) {
      found.scale *= scaled->first;
      found.scalings.push_back(index);
      id = scaled->second;
    } else if (const auto factor = matrix_factor(editor, index)) {
      found.factors.push_back(*factor);
      id = factor->scores;
    } else if (!found.scalings.empty() || !found.factors.empty() || found.maskings.size() == kMostMasks) {
      return false;
    } else if (const auto plain = masking(editor, index, scores)) {
      found.maskings.push_back(*plain);
      id = node.inputs[plain->scores];
    } else if (const auto reshaped = reshaped_addition(editor, index)) {
      found.maskings.push_back(*reshaped);
      id = editor.node(reshaped->there).inputs[0];
    } else {
      return false;
    }
  }
  return false;
}

/// Adds the nodes that replace the weights of a row by zeros if the whole row is masked, so that the softmax
/// is NaN. Returns the weights that the last product reads.
ValueId take_guard(const Editor& editor, ValueId weights, Found& found) {
  const std::vector<int32_t> readers = editor.readers(weights);
  if (readers.size() != 2 || editor.is_output(weights)) return weights;
  for (const size_t i : {0, 1}) {
    const Node& nan = editor.node(readers[i]);
    const Node& guard = editor.node(readers[1 - i]);
    if (nan.op != "IsNaN" || guard.op != "Where" || guard.inputs[0] != nan.outputs[0] ||
        guard.inputs[2] != weights || !editor.read_once(nan.outputs[0]) ||
        scalar_constant(editor.graph(), guard.inputs[1]) != 0 ||
        !same_shape(editor.graph().value(weights).type, editor.graph().value(guard.outputs[0]).type))
      continue;
    found.nan = readers[i];
    found.guard = readers[1 - i];
    return guard.outputs[0];
  }
  return weights;
}

std::optional<Found> find_attention(const Editor& editor, int32_t index) {
  const Node& softmax = editor.node(index);
  if (softmax.op != "Softmax") return std::nullopt;
  const graph::TensorType& type = editor.graph().value(softmax.outputs[0]).type;
  if (!type.ranked() || type.dims->size() < 2 || type.dtype != graph::DType::kFloat32) return std::nullopt;
  const int64_t axis = softmax.attributes.get_int("axis");
  if (axis != -1 && axis != static_cast<int64_t>(type.dims->size()) - 1) return std::nullopt;
  Found found;
  found.softmax = index;
  const ValueId weights = take_guard(editor, softmax.outputs[0], found);
  found.result = editor.single_reader(weights);
  if (found.result < 0) return std::nullopt;
  const Node& result = editor.node(found.result);
  if (result.op != "MatMul" || result.inputs[0] != weights || result.inputs[1] == weights)
    return std::nullopt;
  if (!find_product(editor, softmax.inputs[0], found)) return std::nullopt;
  const Node& product = editor.node(found.product);
  found.q = product.inputs[0];
  found.k = product.inputs[1];
  found.v = result.inputs[1];
  take_scaling(editor, found.q, found);
  take_scaling(editor, found.k, found);
  const int32_t reader = editor.single_reader(result.outputs[0]);
  if (reader >= 0 && editor.node(reader).op == "Transpose") found.transpose = reader;
  return found;
}

/// Why the pattern is kept as it is; empty if it is fused.
Refusal refusal(const Editor& editor, const Found& found) {
  const Graph& graph = editor.graph();
  for (const ValueId id : {found.q, found.k, found.v}) {
    const graph::TensorType& type = graph.value(id).type;
    if (!type.ranked() || type.dims->size() < 2)
      return fmt::format("'{}' is no matrix of a known rank", graph.value(id).name);
  }
  for (const MatrixFactor& factor : found.factors) {
    if (!broadcasts_into(graph.value(factor.factor).type, graph.value(found.q).type))
      return fmt::format("a factor of the scores, '{}', is larger than their rows",
                         graph.value(factor.factor).name);
  }
  for (const Masking& masking : found.maskings) {
    const Node& node = editor.node(masking.index);
    if (!broadcasts_into(graph.value(masking.mask).type, graph.value(node.outputs[0]).type))
      return fmt::format("the mask of '{}' is larger than the scores", node.name);
  }
  return {};
}

/// Makes the body's nodes in the order in which they run.
class PartMaker {
 public:
  PartMaker(Editor& editor, const graph::Links& links) : editor_(editor), links_(links) {}

  /// Adds the views that lead to an operand; several operands may share them.
  void add_views(ValueId id) {
    const graph::StridedView view = graph::strided_view(editor_.graph(), links_, id);
    for (const int32_t index : view.nodes) {
      if (std::find(views_.begin(), views_.end(), index) != views_.end()) continue;
      views_.push_back(index);
      parts_.push_back({fmt::format("view{}", views_.size()), editor_.node(index)});
    }
  }

  /// Adds the node with the operands that it has in the pattern; returns its result, a new value.
  ValueId add(const std::string& role, Node node, std::vector<ValueId> inputs,
              graph::DType dtype = graph::DType::kFloat32) {
    node.inputs = std::move(inputs);
    node.outputs = {editor_.add_value(node.name, dtype)};
    parts_.push_back({role, std::move(node)});
    return parts_.back().node.outputs[0];
  }

  /// Makes a region whose result replaces `result`.
  Node region(ValueId result) {
    parts_.back().node.outputs[0] = result;
    return make_region(std::string(graph::kAttention), parts_, {result});
  }

  const std::vector<int32_t>& views() const { return views_; }

 private:
  Editor& editor_;
  const graph::Links& links_;
  std::vector<Part> parts_;
  std::vector<int32_t> views_;
};

/// A single multiplication for all scalings of the pattern.
Node joint_scaling(const Editor& editor, const std::vector<int32_t>& scalings) {
  std::vector<const Node*> nodes;
  for (const int32_t index : scalings) nodes.push_back(&editor.node(index));
  Node scaling = *nodes[0];
  join_names(scaling, nodes);
  return scaling;
}

/// Removes the nodes whose results are not read any more.
void remove_unread(Editor& editor, const std::vector<int32_t>& nodes) {
  const auto unread = [&](ValueId id) {
    return id == kNoValue || (editor.read_count(id) == 0 && !editor.is_output(id));
  };
  for (size_t round = 0; round < nodes.size(); ++round) {
    for (const int32_t index : nodes) {
      if (!editor.alive(index)) continue;
      const std::vector<ValueId>& outputs = editor.node(index).outputs;
      if (std::all_of(outputs.begin(), outputs.end(), unread)) editor.remove(index);
    }
  }
}

/// Multiplies the rows by the factors instead of the scores, because there are fewer rows.
ValueId scaled_rows(Editor& editor, const Found& found) {
  ValueId rows = found.q;
  for (const MatrixFactor& factor : found.factors) {
    Node scaling = editor.node(factor.index);
    scaling.inputs = {rows, factor.factor};
    rows = editor.add_value(scaling.name, graph::DType::kFloat32);
    scaling.outputs = {rows};
    editor.insert_before(found.product, std::move(scaling));
  }
  return rows;
}

void fuse(Editor& editor, const graph::Links& links, const Found& found) {
  PartMaker maker(editor, links);
  const ValueId q = scaled_rows(editor, found);
  if (q == found.q) maker.add_views(q);
  for (const ValueId id : {found.k, found.v}) maker.add_views(id);
  for (const Masking& masking : found.maskings) maker.add_views(masking.mask);
  ValueId scores = maker.add("qk", editor.node(found.product), {q, found.k});
  if (!found.scalings.empty()) {
    Node scaling = joint_scaling(editor, found.scalings);
    const ValueId factor = editor.add_constant(scaling.name + ".factor",
                                               floating_tensor(graph::DType::kFloat32, {}, {found.scale}));
    scores = maker.add("scale", std::move(scaling), {scores, factor});
  }
  for (size_t i = found.maskings.size(); i > 0; --i) {
    const Masking& masking = found.maskings[i - 1];
    const std::string role = fmt::format("mask{}", found.maskings.size() - i + 1);
    const auto reshape = [&](int32_t index, const char* when) {
      if (index < 0) return;
      const Node node = editor.node(index);
      scores = maker.add(role + when, node, {scores, node.inputs[1]});
    };
    reshape(masking.there, "_there");
    const Node& node = editor.node(masking.index);
    std::vector<ValueId> operands = {scores, masking.mask};
    if (node.op == "Where") {
      operands = node.inputs;
      operands[masking.scores] = scores;
    }
    scores = maker.add(role, node, std::move(operands));
    reshape(masking.back, "_back");
  }
  ValueId weights = maker.add("softmax", editor.node(found.softmax), {scores});
  if (found.guard >= 0) {
    const ValueId nan = maker.add("nan", editor.node(found.nan), {weights}, graph::DType::kBool);
    const Node& guard = editor.node(found.guard);
    weights = maker.add("guard", guard, {nan, guard.inputs[1], weights});
  }
  const ValueId rows = maker.add("result", editor.node(found.result), {weights, found.v});
  int32_t last = found.result;
  std::vector<int32_t> gone = {found.product, found.softmax};
  for (const MatrixFactor& factor : found.factors) gone.push_back(factor.index);
  if (found.guard >= 0) gone.insert(gone.end(), {found.nan, found.guard});
  for (const Masking& masking : found.maskings) {
    gone.push_back(masking.index);
    if (masking.there >= 0) gone.insert(gone.end(), {masking.there, masking.back});
  }
  if (found.transpose >= 0) {
    maker.add("transposed", editor.node(found.transpose), {rows});
    gone.push_back(found.result);
    last = found.transpose;
  }
  Node region = maker.region(editor.node(last).outputs[0]);
  for (const int32_t index : gone) editor.remove(index);
  editor.replace(last, std::move(region));
  // Scalings of an operand, and views, may have other readers.
  remove_unread(editor, found.scalings);
  remove_unread(editor, maker.views());
}

}  // namespace

Summary attention_fusion(Graph& graph) {
  Summary summary;
  const graph::Links links(graph);
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (!editor.alive(i)) continue;
    const auto found = find_attention(editor, i);
    if (!found) continue;
    const std::string first = editor.node(found->product).name;
    const std::string last = editor.node(found->result).name;
    if (const Refusal reason = refusal(editor, *found)) {
      summary.refuse(fmt::format("'{}' to '{}' not fused: {}", first, last, reason.text()));
      continue;
    }
    summary.change(fmt::format("attention from '{}' to '{}' became one node", first, last));
    fuse(editor, links, *found);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
