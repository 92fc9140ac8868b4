// Fuses the attention of a decoder's token with the two steps that append its keys and values to caches of a
// fixed capacity (transform/fixed_caches.hpp): a step of so few elements takes as long as a kernel takes to
// begin.
//
//   K' = ScatterElements(K, Expand(place), k)     y = attention(q, K', V')     one region of y, K' and V'
//   V' = ScatterElements(V, Expand(place), v)
//
// The queries and k may be results of rotations (region rotary), which become parts of it, too.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "device/cuda/passes/pass_list.hpp"
#include "graph/attention.hpp"
#include "graph/region.hpp"
#include "transform/fusion.hpp"
#include "transform/region.hpp"

namespace hone::device::cuda {

using namespace transform;

namespace {

/// The nodes that append to a cache.
struct Append {
  int32_t expand = -1;
  int32_t scatter = -1;
};

/// True if the type has known dimensions, and 1 along `axis`.
bool is_one_row(const graph::TensorType& type, int64_t axis) {
  if (!type.fully_known()) return false;
  const auto rank = static_cast<int64_t>(type.dims->size());
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank && (*type.dims)[static_cast<size_t>(axis)].is(1);
}

bool has_one_element(const graph::TensorType& type) {
  return type.fully_known() &&
         std::all_of(type.dims->begin(), type.dims->end(), [](const graph::Dim& dim) { return dim.is(1); });
}

/// How the value is made where it is a cache to which one row is appended.
std::optional<Append> append_of(const Editor& editor, ValueId cache) {
  const Graph& graph = editor.graph();
  const Append found{editor.made_by(cache, "ScatterElements") == nullptr
                         ? -1
                         : editor.producer(editor.node(editor.producer(cache)).inputs[1]),
                     editor.producer(cache)};
  if (found.expand < 0) return std::nullopt;
  const Node& scatter = editor.node(found.scatter);
  const Node& expand = editor.node(found.expand);
  if (expand.op != "Expand" || scatter.attributes.get_string("reduction") != "none" ||
      !has_one_element(graph.value(expand.inputs[0]).type) ||
      !is_one_row(graph.value(scatter.inputs[2]).type, scatter.attributes.get_int("axis")))
    return std::nullopt;
  return found;
}

/// The rotation that makes the value, where nothing else reads it; -1 otherwise.
int32_t rotation_of(const Editor& editor, ValueId id) {
  const int32_t producer = editor.producer(id);
  if (producer < 0 || !editor.read_once(id)) return -1;
  const Node& node = editor.node(producer);
  return graph::is_region(node) && graph::kind_of(node) == "rotary" ? producer : -1;
}

/// The queries and keys of an attention; kNoValue where they are not known to be rows of this value.
std::pair<ValueId, ValueId> queries_and_keys(const Graph& graph, const Node& attention) {
  const Graph body = graph::typed_body(graph, attention);
  const auto found = graph::read_attention(body);
  const auto input = [&](ValueId base) {
    const auto at = std::find(body.inputs.begin(), body.inputs.end(), base);
    return at == body.inputs.end() ? kNoValue
                                   : attention.inputs[static_cast<size_t>(at - body.inputs.begin())];
  };
  if (!found) return {kNoValue, kNoValue};
  return {input(found->q.base), input(found->k.base)};
}

/// True if all readers of the value come after node `index`.
bool is_read_after(const Editor& editor, ValueId id, int32_t index) {
  const std::vector<int32_t> readers = editor.readers(id);
  return std::all_of(readers.begin(), readers.end(), [&](int32_t reader) { return reader >= index; });
}

void fuse(Editor& editor, int32_t index, Summary& summary) {
  const Node attention = editor.node(index);
  std::vector<Append> appends;
  for (const ValueId id : attention.inputs) {
    if (const auto found = append_of(editor, id)) appends.push_back(*found);
  }
  if (appends.size() != 2) return;
  std::vector<Part> parts;
  std::vector<ValueId> results = {attention.outputs[0]};
  const auto [queries, keys] = queries_and_keys(editor.graph(), attention);
  std::vector<int32_t> rotations = {rotation_of(editor, queries)};
  if (rotations[0] >= 0) parts.push_back({"rotated_query", editor.node(rotations[0])});
  const char* const roles[2][2] = {{"places", "first"}, {"other_places", "second"}};
  for (size_t i = 0; i < 2; ++i) {
    const Node& scatter = editor.node(appends[i].scatter);
    if (!is_read_after(editor, scatter.outputs[0], index))
      return summary.refuse(fmt::format("'{}' is read before '{}'", scatter.name, attention.name));
    const int32_t rotation = scatter.outputs[0] == keys ? rotation_of(editor, scatter.inputs[2]) : -1;
    if (rotation >= 0) parts.push_back({"rotated_key", editor.node(rotation)});
    rotations.push_back(rotation);
    if (i == 0 || appends[0].expand != appends[1].expand)
      parts.push_back({roles[i][0], editor.node(appends[i].expand)});
    parts.push_back({roles[i][1], scatter});
    results.push_back(scatter.outputs[0]);
  }
  parts.push_back({"attention", attention});
  summary.change(fmt::format("'{}' appends to its caches itself", attention.name));
  for (const Append& append : appends) editor.remove(append.scatter);
  for (const int32_t rotation : rotations) {
    if (rotation >= 0) editor.remove(rotation);
  }
  editor.replace(index, make_region("cached_attention", parts, results));
}

}  // namespace

Summary cached_attention_fusion(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    if (!editor.alive(i)) continue;
    const Node& node = editor.node(i);
    if (graph::is_region(node) && graph::kind_of(node) == graph::kAttention) fuse(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::device::cuda
