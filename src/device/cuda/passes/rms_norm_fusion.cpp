// Fuses a normalization by the root of the mean of squares (Zhang and Sennrich, "Root Mean Square Layer
// Normalization", 2019), which every model writes as several nodes: x / sqrt(mean(x^2) + epsilon) * scale
// over the last axis. One kernel computes it in float32, because x^2 would exceed the range of float16.
#include "device/cuda/passes/pass_list.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pattern.hpp"
#include "transform/region.hpp"

namespace hone::device::cuda {

using namespace transform;

namespace {

/// The node that produces the value and whose result nothing else reads; else null.
const Node* own_part(const Editor& editor, ValueId id, const char* op) {
  return editor.read_once(id) ? editor.made_by(id, op) : nullptr;
}

/// True if the mean is over the last axis with kept dimensions.
bool is_over_rows(const Graph& graph, const Node& mean) {
  const graph::TensorType& type = graph.value(mean.inputs[0]).type;
  const auto axes = known_integers(graph, mean.input(1));
  if (!axes || axes->size() != 1 || !type.ranked() || type.dtype != DType::kFloat32) return false;
  const auto rank = static_cast<int64_t>(type.dims->size());
  return mean.attributes.get_int("keepdims") != 0 && (axes->front() == -1 || axes->front() == rank - 1);
}

/// 1 / sqrt(mean(x^2) + epsilon): its nodes in the order in which they run; the first operand is the input.
struct Factor {
  std::vector<Part> parts;
  std::vector<int32_t> indices;
};

std::optional<Factor> factor_of(const Editor& editor, ValueId id, ValueId x) {
  const Node* factor = own_part(editor, id, "Reciprocal");
  const Node* root = factor == nullptr ? nullptr : own_part(editor, factor->inputs[0], "Sqrt");
  const Node* sum = root == nullptr ? nullptr : own_part(editor, root->inputs[0], "Add");
  if (sum == nullptr) return std::nullopt;
  const size_t epsilon = scalar_constant(editor.graph(), sum->inputs[1]) ? 1 : 0;
  if (!scalar_constant(editor.graph(), sum->inputs[epsilon])) return std::nullopt;
  const Node* mean = own_part(editor, sum->inputs[1 - epsilon], "ReduceMean");
  if (mean == nullptr || !is_over_rows(editor.graph(), *mean)) return std::nullopt;
  const Node* square = own_part(editor, mean->inputs[0], "Mul");
  if (square == nullptr || square->inputs[0] != x || square->inputs[1] != x) return std::nullopt;
  Node ordered = *sum;
  ordered.inputs = {sum->inputs[1 - epsilon], sum->inputs[epsilon]};
  Factor found{{{"square", *square}, {"mean", *mean}, {"sum", ordered}, {"root", *root}, {"factor", *factor}},
               {}};
  for (const Part& part : found.parts) found.indices.push_back(editor.producer(part.node.outputs[0]));
  return found;
}

void fuse(Editor& editor, int32_t index, Summary& summary) {
  Node normalized = editor.node(index);
  auto found = factor_of(editor, normalized.inputs[1], normalized.inputs[0]);
  if (!found) {
    std::swap(normalized.inputs[0], normalized.inputs[1]);
    found = factor_of(editor, normalized.inputs[1], normalized.inputs[0]);
  }
  if (!found) return;
  const auto refuse = [&](const char* why) {
    summary.refuse(fmt::format("'{}' is no RMS normalization: {}", normalized.name, why));
  };
  const ValueId result = normalized.outputs[0];
  const int32_t reader = editor.single_reader(result);
  if (reader < 0 || editor.node(reader).op != "Mul") return refuse("no product with a scale alone reads it");
  Node scaled = editor.node(reader);
  scaled.inputs = {result, other_operand(scaled, result)};
  const graph::TensorType& scale = editor.graph().value(scaled.inputs[1]).type;
  const graph::TensorType& type = editor.graph().value(result).type;
  if (!scale.ranked() || scale.dims->size() != 1 || !scale.dims->front().known() ||
      !type.dims->back().is(scale.dims->front().value()))
    return refuse("its scale is not one value for each element of a row");
  found->parts.push_back({"normalized", normalized});
  found->parts.push_back({"scaled", scaled});
  Node region = make_region("rms_normalization", found->parts, scaled.outputs);
  summary.change(fmt::format("'{}' became one RMS normalization", scaled.name));
  for (const int32_t part : found->indices) editor.remove(part);
  editor.remove(index);
  editor.replace(reader, std::move(region));
}

}  // namespace

Summary rms_norm_fusion(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (editor.alive(i) && editor.node(i).op == "Mul") fuse(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::device::cuda
