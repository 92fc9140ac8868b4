// See batch_entries.hpp.
#include "graph/batch_entries.hpp"

#include <algorithm>
#include <optional>

#include "graph/operator.hpp"

namespace hone::graph {
namespace {

/// True if the batch of every varying input is the first dimension of the output. A value of another rank
/// (all of them begin with the batch) would be broadcast with its batch against channels or pixels.
template <class Varies>
bool batches_meet(const Graph& graph, const Node& node, int64_t rank, Varies varies) {
  if (changes_shape_only(node)) return true;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    if (id == kNoValue || !varies(id)) return true;
    const std::optional<Dims>& dims = graph.value(id).type.dims;
    return dims && static_cast<int64_t>(dims->size()) == rank;
  });
}

template <class Varies>
bool keeps_apart(const Graph& graph, const Node& node, int64_t rank, Varies varies) {
  const OperatorDef* def = find_operator(node.op);
  if (def == nullptr || !batches_meet(graph, node, rank, varies)) return false;
  return def->keeps_batch == nullptr ? def->traits.elementwise : def->keeps_batch(graph, node, rank);
}

}  // namespace

bool keeps_batch(const Graph& graph, const Node& node, int64_t rank) {
  return keeps_apart(graph, node, rank, [&](ValueId id) { return !graph.value(id).constant; });
}

bool keeps_batch_of(const Graph& graph, const Node& node, int64_t rank, const std::vector<bool>& varying) {
  return keeps_apart(graph, node, rank, [&](ValueId id) {
    return static_cast<size_t>(id) < varying.size() && varying[static_cast<size_t>(id)];
  });
}

}  // namespace hone::graph
