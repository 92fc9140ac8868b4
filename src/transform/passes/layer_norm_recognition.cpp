// Recognizes layer normalization (Ba, Kiros and Hinton, "Layer Normalization", 2016) that an exporter wrote
// as several nodes: (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + bias, with means over the last
// axes.
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"
#include "transform/pattern.hpp"

namespace hone::transform {
namespace {

/// Limit on the size of a scale that is created because the model has none.
constexpr int64_t kMaxNormalizedElements = 1 << 20;

struct Normalized {
  ValueId x = kNoValue;
  int64_t axis = 0;
  double epsilon = 0;
};

/// First axis of a mean over the last axes with kept dimensions; nullopt for any other node.
std::optional<int64_t> mean_axis(const Graph& graph, const Node& mean) {
  const graph::TensorType& type = graph.value(mean.inputs[0]).type;
  const auto axes = known_integers(graph, mean.input(1));
  if (!axes || axes->empty() || !type.ranked() || mean.attributes.get_int("keepdims") == 0)
    return std::nullopt;
  const auto rank = static_cast<int64_t>(type.dims->size());
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (const int64_t axis : *axes) reduced.at(static_cast<size_t>(axis < 0 ? axis + rank : axis)) = true;
  int64_t first = rank;
  while (first > 0 && reduced[static_cast<size_t>(first - 1)]) --first;
  return rank - first == static_cast<int64_t>(axes->size()) ? std::optional(first) : std::nullopt;
}

/// Returns x if the value is x - mean(x), and adds its producers to the match.
std::optional<Normalized> centered(const Editor& editor, ValueId id, Match& match) {
  const Node* difference = editor.made_by(id, "Sub");
  if (difference == nullptr) return std::nullopt;
  const Node* mean = editor.made_by(difference->inputs[1], "ReduceMean");
  if (mean == nullptr || mean->inputs[0] != difference->inputs[0]) return std::nullopt;
  const auto axis = mean_axis(editor.graph(), *mean);
  if (!axis) return std::nullopt;
  match.take(editor, id);
  match.take(editor, difference->inputs[1]);
  return Normalized{mean->inputs[0], *axis, 0};
}

/// The value that is squared as v^2 or v * v.
ValueId squared(const Editor& editor, ValueId id, Match& match) {
  const Node* power = editor.made_by(id, "Pow");
  const Node* product = editor.made_by(id, "Mul");
  match.take(editor, id);
  if (power != nullptr && is_scalar(editor.graph(), power->inputs[1], 2)) return power->inputs[0];
  if (product != nullptr && product->inputs[0] == product->inputs[1]) return product->inputs[0];
  return kNoValue;
}

/// Epsilon, if the value is sqrt(mean((x - mean(x))^2) + epsilon) of the same x and axes.
std::optional<double> deviation(const Editor& editor, ValueId id, const Normalized& wanted, Match& match) {
  const Node* root = editor.made_by(id, "Sqrt");
  const Node* sum = root == nullptr ? nullptr : editor.made_by(root->inputs[0], "Add");
  if (sum == nullptr) return std::nullopt;
  const size_t at = scalar_constant(editor.graph(), sum->inputs[0]) ? 0 : 1;
  const auto epsilon = scalar_constant(editor.graph(), sum->inputs[at]);
  const Node* variance = editor.made_by(sum->inputs[1 - at], "ReduceMean");
  if (!epsilon || variance == nullptr) return std::nullopt;
  if (mean_axis(editor.graph(), *variance) != wanted.axis) return std::nullopt;
  match.take(editor, id);
  match.take(editor, root->inputs[0]);
  match.take(editor, sum->inputs[1 - at]);
  const ValueId square = variance->inputs[0];
  if (editor.producer(square) < 0) return std::nullopt;
  const ValueId difference = squared(editor, square, match);
  if (difference == kNoValue) return std::nullopt;
  const auto inner = centered(editor, difference, match);
  if (!inner || inner->x != wanted.x || inner->axis != wanted.axis) return std::nullopt;
  return epsilon;
}

/// The normalization that ends with node `index`, a division.
std::optional<Normalized> normalized(const Editor& editor, int32_t index, Match& match) {
  const Node& quotient = editor.node(index);
  if (quotient.op != "Div") return std::nullopt;
  auto result = centered(editor, quotient.inputs[0], match);
  if (!result) return std::nullopt;
  const auto epsilon = deviation(editor, quotient.inputs[1], *result, match);
  if (!epsilon) return std::nullopt;
  result->epsilon = *epsilon;
  return result;
}

/// The reader of the match's result if it is an `op` with a constant of exactly the normalized shape.
std::optional<int32_t> affine_reader(const Editor& editor, int32_t index, const char* op,
                                     const graph::Dims& tail, ValueId& parameter) {
  const ValueId result = editor.node(index).outputs[0];
  const int32_t reader = editor.single_reader(result);
  if (reader < 0 || editor.node(reader).op != op) return std::nullopt;
  const ValueId other = other_operand(editor.node(reader), result);
  if (editor.graph().constant(other) == nullptr) return std::nullopt;
  const graph::TensorType wanted{editor.graph().value(result).type.dtype, tail};
  if (!same_shape(editor.graph().value(other).type, wanted)) return std::nullopt;
  parameter = other;
  return reader;
}

void recognise(Editor& editor, int32_t index, Summary& summary) {
  Match match{index, {}};
  const auto found = normalized(editor, index, match);
  if (!found) return;
  const graph::TensorType type = editor.graph().value(found->x).type;
  const graph::Dims tail(type.dims->begin() + found->axis, type.dims->end());
  const auto refuse = [&](const std::string& why) {
    summary.refuse(fmt::format("'{}' is no LayerNormalization: {}", editor.node(index).name, why));
  };
  if (!graph::all_known(tail)) return refuse("the normalised dimensions are not known");
  ValueId scale = kNoValue;
  ValueId bias = kNoValue;
  if (const auto reader = affine_reader(editor, match.root, "Mul", tail, scale)) {
    match.inside.push_back(match.root);
    match.root = *reader;
    if (const auto next = affine_reader(editor, match.root, "Add", tail, bias)) {
      match.inside.push_back(match.root);
      match.root = *next;
    }
  }
  if (!is_replaceable(editor, match, found->x, "LayerNormalization", summary)) return;
  if (scale == kNoValue) {
    tensor::Shape shape;
    for (const graph::Dim& dim : tail) shape.push_back(dim.value());
    const int64_t count = tensor::element_count(shape);
    if (count > kMaxNormalizedElements) return refuse(fmt::format("it normalises {} elements", count));
    const std::vector<double> ones(static_cast<size_t>(count), 1);
    scale = editor.add_constant(editor.node(index).name + ".scale", floating_tensor(type.dtype, shape, ones));
  }
  Node norm = derived_node(editor.node(match.root), "LayerNormalization", {found->x, scale});
  if (bias != kNoValue) norm.inputs.push_back(bias);
  norm.attributes.set("axis", found->axis);
  norm.attributes.set("epsilon", static_cast<float>(found->epsilon));
  replace_match(editor, match, std::move(norm), summary);
}

}  // namespace

Summary layer_norm_recognition(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (editor.alive(i)) recognise(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
