// Recognizes group normalization (Wu and He, "Group Normalization", 2018) in the form of exporters without
// this operator: each group of channels is reshaped to a row, the rows are normalized and reshaped back to
// the image, and a scale and a shift for each channel follow.
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"
#include "transform/pattern.hpp"

namespace hone::transform {
namespace {

/// The scale or the bias of a normalization as one number for each group; empty if a row has several
/// different ones.
std::optional<std::vector<double>> per_group(const Graph& graph, const Node& norm, size_t input,
                                             int64_t groups, double absent) {
  if (!norm.has_input(input)) return std::vector<double>(static_cast<size_t>(groups), absent);
  if (norm.op == "InstanceNormalization") return per_channel(graph, norm.inputs[input], 1, 0, groups);
  const Tensor* elements = graph.constant(norm.inputs[input]);
  if (elements == nullptr || elements->size() == 0) return std::nullopt;
  const double first = elements->to_double()[0];
  if (!is_filled_with(graph, norm.inputs[input], first)) return std::nullopt;
  return std::vector<double>(static_cast<size_t>(groups), first);
}

/// True if the node normalizes the rows of a tensor [images, groups, elements].
bool normalises_rows(const Graph& graph, const Node& node) {
  const graph::TensorType& type = graph.value(node.inputs[0]).type;
  if (!type.ranked() || type.dims->size() != 3 || !(*type.dims)[1].known()) return false;
  if (node.op == "InstanceNormalization") return true;
  const bool alone = !node.has_output(1) && !node.has_output(2);
  const int64_t axis = node.op == "LayerNormalization" ? node.attributes.get_int("axis") : 0;
  return node.op == "LayerNormalization" && alone && (axis == 2 || axis == -1);
}

/// The number of channels of an image whose groups are the rows of `rows`; 0 if they are not.
int64_t channels_of(const graph::TensorType& image, const graph::TensorType& rows) {
  if (!image.ranked() || image.dims->size() < 3 || !(*image.dims)[1].known()) return 0;
  const int64_t channels = (*image.dims)[1].value();
  const int64_t groups = (*rows.dims)[1].value();
  const bool divides = groups > 0 && channels % groups == 0;
  return divides && (*image.dims)[0].same_as((*rows.dims)[0]) ? channels : 0;
}

/// The only reader of the match's result if it is an `op` with one constant number for each channel.
std::optional<std::vector<double>> take_parameters(const Editor& editor, const char* op, int64_t channels,
                                                   Match& match) {
  const ValueId result = editor.node(match.root).outputs[0];
  const int32_t reader = editor.single_reader(result);
  if (reader < 0 || editor.node(reader).op != op) return std::nullopt;
  const auto rank = static_cast<int64_t>(editor.graph().value(result).type.dims->size());
  auto found = per_channel(editor.graph(), other_operand(editor.node(reader), result), rank, 1, channels);
  if (!found) return std::nullopt;
  match.inside.push_back(match.root);
  match.root = reader;
  return found;
}

void recognise(Editor& editor, int32_t index, Summary& summary) {
  const Node norm = editor.node(index);
  if (!normalises_rows(editor.graph(), norm)) return;
  const Node* split = editor.made_by(norm.inputs[0], "Reshape");
  const int32_t reader = editor.single_reader(norm.outputs[0]);
  if (split == nullptr || reader < 0 || editor.node(reader).op != "Reshape") return;
  const ValueId x = split->inputs[0];
  const graph::TensorType type = editor.graph().value(x).type;
  const graph::TensorType rows = editor.graph().value(norm.inputs[0]).type;
  const int64_t channels = channels_of(type, rows);
  if (channels == 0 || !same_shape(type, editor.graph().value(editor.node(reader).outputs[0]).type)) return;

  const int64_t groups = (*rows.dims)[1].value();
  const auto group_scale = per_group(editor.graph(), norm, 1, groups, 1);
  const auto group_bias = per_group(editor.graph(), norm, 2, groups, 0);
  if (!group_scale || !group_bias) {
    summary.refuse(
        fmt::format("'{}' is no GroupNormalization: its scale or bias is not one for each group", norm.name));
    return;
  }
  Match match{reader, {index}};
  match.take(editor, norm.inputs[0]);
  std::vector<double> scale(static_cast<size_t>(channels));
  std::vector<double> bias(static_cast<size_t>(channels));
  for (int64_t c = 0; c < channels; ++c) {
    const auto group = static_cast<size_t>(c / (channels / groups));
    scale[static_cast<size_t>(c)] = (*group_scale)[group];
    bias[static_cast<size_t>(c)] = (*group_bias)[group];
  }
  if (const auto factors = take_parameters(editor, "Mul", channels, match)) {
    for (size_t c = 0; c < scale.size(); ++c) {
      scale[c] *= (*factors)[c];
      bias[c] *= (*factors)[c];
    }
  }
  if (const auto addends = take_parameters(editor, "Add", channels, match)) {
    for (size_t c = 0; c < bias.size(); ++c) bias[c] += (*addends)[c];
  }
  if (!is_replaceable(editor, match, x, "GroupNormalization", summary)) return;
  const auto constant = [&](const char* what, const std::vector<double>& numbers) {
    return editor.add_constant(norm.name + what, floating_tensor(type.dtype, {channels}, numbers));
  };
  Node group_norm = derived_node(editor.node(match.root), "GroupNormalization",
                                 {x, constant(".scale", scale), constant(".bias", bias)});
  group_norm.attributes.set("num_groups", groups);
  group_norm.attributes.set("epsilon", norm.attributes.get_float("epsilon"));
  replace_match(editor, match, std::move(group_norm), summary);
}

}  // namespace

Summary group_norm_recognition(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (editor.alive(i)) recognise(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
