// See region.hpp.
#include "graph/region.hpp"

#include <algorithm>

#include "graph/subgraph.hpp"

namespace hone::graph {

const std::string& kind_of(const Node& node) {
  return is_region(node) ? node.attributes.get_string("kind") : node.op;
}

const Graph& region_body(const Node& region) {
  return *region.attributes.get<std::shared_ptr<Graph>>("body");
}

Graph typed_body(const Graph& graph, const Node& region) {
  std::vector<SubgraphInput> inputs;
  for (const ValueId id : region.inputs) {
    const Value& value = graph.value(id);
    inputs.push_back({value.type, value.data, value.constant ? &*value.constant : nullptr});
  }
  return typed_subgraph(region_body(region), inputs);
}

const Node* find_part(const Node& region, std::string_view role) {
  const std::vector<Node>& nodes = region_body(region).nodes;
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.name == role; });
  return found == nodes.end() ? nullptr : &*found;
}

Node outer_part(const Node& region, const Node& part) {
  const Graph& body = region_body(region);
  const auto replace = [](std::vector<ValueId>& ids, const std::vector<ValueId>& inner,
                          const std::vector<ValueId>& outer) {
    for (ValueId& id : ids) {
      const auto found = std::find(inner.begin(), inner.end(), id);
      id = found == inner.end() ? kNoValue : outer[static_cast<size_t>(found - inner.begin())];
    }
  };
  Node node = part;
  replace(node.inputs, body.inputs, region.inputs);
  replace(node.outputs, body.outputs, region.outputs);
  return node;
}

}  // namespace hone::graph
