// Fuses rotary positions (Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021)
// as exporters write them: x * cos + concat(-second half of x, first half of x) * sin.
#include "device/cuda/passes/pass_list.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pattern.hpp"
#include "transform/region.hpp"

namespace hone::device::cuda {

using namespace transform;

namespace {

/// A node that makes the value, which nothing else reads; null otherwise.
const Node* own_part(const Editor& editor, ValueId id, const char* op) {
  return editor.read_once(id) ? editor.made_by(id, op) : nullptr;
}

/// True if the node cuts `begin` to `end` out of rows of `depth` elements.
bool cuts(const Graph& graph, const Node& slice, int64_t begin, int64_t end, int64_t depth) {
  const auto starts = known_integers(graph, slice.input(1));
  const auto ends = known_integers(graph, slice.input(2));
  const auto axes = known_integers(graph, slice.input(3));
  if (!starts || !ends || !axes || starts->size() != 1 || ends->size() != 1 || axes->size() != 1)
    return false;
  if (slice.has_input(4)) {
    const auto steps = known_integers(graph, slice.input(4));
    if (!steps || *steps != std::vector<int64_t>{1}) return false;
  }
  const auto rank = static_cast<int64_t>(graph.value(slice.inputs[0]).type.dims->size());
  return (axes->front() == -1 || axes->front() == rank - 1) && starts->front() == begin &&
         std::min(ends->front(), depth) == end;
}

/// concat(-second half of x, first half of x) and what makes it, in the order it runs.
std::optional<std::vector<Part>> turned_halves(const Editor& editor, ValueId id, ValueId x) {
  const Graph& graph = editor.graph();
  const graph::TensorType& type = graph.value(x).type;
  const Node* turned = own_part(editor, id, "Concat");
  if (turned == nullptr || turned->inputs.size() != 2 || type.dtype != DType::kFloat32 || !type.ranked() ||
      type.dims->empty() || !type.dims->back().known())
    return std::nullopt;
  const auto rank = static_cast<int64_t>(type.dims->size());
  const int64_t depth = type.dims->back().value();
  const int64_t axis = turned->attributes.get_int("axis");
  const Node* negative = own_part(editor, turned->inputs[0], "Neg");
  const Node* first = own_part(editor, turned->inputs[1], "Slice");
  const Node* second = negative == nullptr ? nullptr : own_part(editor, negative->inputs[0], "Slice");
  if (first == nullptr || second == nullptr || first->inputs[0] != x || second->inputs[0] != x ||
      depth % 2 != 0 || (axis != -1 && axis != rank - 1))
    return std::nullopt;
  if (!cuts(graph, *first, 0, depth / 2, depth) || !cuts(graph, *second, depth / 2, depth, depth))
    return std::nullopt;
  return std::vector<Part>{
      {"first", *first}, {"second", *second}, {"negative", *negative}, {"turned", *turned}};
}

/// The product of a row and a table, x; kNoValue where the match is none.
struct Rotation {
  std::vector<Part> parts;
  ValueId x = graph::kNoValue;
};

std::optional<Rotation> rotation(const Editor& editor, ValueId along, ValueId across) {
  const Node* kept = own_part(editor, along, "Mul");
  const Node* moved = own_part(editor, across, "Mul");
  if (kept == nullptr || moved == nullptr) return std::nullopt;
  for (const size_t x : {0, 1}) {
    for (const size_t turned : {0, 1}) {
      auto parts = turned_halves(editor, moved->inputs[turned], kept->inputs[x]);
      if (!parts) continue;
      Node first = *kept;
      first.inputs = {kept->inputs[x], kept->inputs[1 - x]};
      Node second = *moved;
      second.inputs = {moved->inputs[turned], moved->inputs[1 - turned]};
      parts->push_back({"along", std::move(first)});
      parts->push_back({"across", std::move(second)});
      return Rotation{std::move(*parts), kept->inputs[x]};
    }
  }
  return std::nullopt;
}

void fuse(Editor& editor, int32_t index, Summary& summary) {
  Node sum = editor.node(index);
  auto found = rotation(editor, sum.inputs[0], sum.inputs[1]);
  if (!found) {
    std::swap(sum.inputs[0], sum.inputs[1]);
    found = rotation(editor, sum.inputs[0], sum.inputs[1]);
  }
  if (!found) return;
  const graph::TensorType& type = editor.graph().value(found->x).type;
  for (const Part& part : found->parts) {
    if (part.role != "along" && part.role != "across") continue;
    const graph::TensorType& table = editor.graph().value(part.node.inputs[1]).type;
    if (!broadcasts_into(table, type) || table.dims->empty() ||
        !table.dims->back().is(type.dims->back().value()))
      return summary.refuse(fmt::format("'{}' is no rotation: {} is not one row for each of {}", sum.name,
                                        table.text(), type.text()));
  }
  for (const Part& part : found->parts) editor.remove(editor.producer(part.node.outputs[0]));
  found->parts.push_back({"rotated", sum});
  summary.change(fmt::format("'{}' became one rotation", sum.name));
  editor.replace(index, make_region("rotary", found->parts, sum.outputs));
}

}  // namespace

Summary rotary_fusion(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (editor.alive(i) && editor.node(i).op == "Add") fuse(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::device::cuda
