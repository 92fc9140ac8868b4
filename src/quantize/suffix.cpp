// See suffix.hpp.
#include "quantize/suffix.hpp"

#include <algorithm>

namespace hone::quantize {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

Suffix suffix_of(const graph::Graph& graph, ValueId value) {
  Suffix suffix{graph, {value}, {}};
  std::vector<bool> depends(graph.values.size());
  depends[static_cast<size_t>(value)] = true;
  const auto is_dependent = [&](ValueId id) { return id != kNoValue && depends[static_cast<size_t>(id)]; };
  suffix.graph.nodes.clear();
  for (const Node& node : graph.nodes) {
    // The producer of the value is before the cut.
    if (!std::ranges::any_of(node.inputs, is_dependent)) continue;
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) depends[static_cast<size_t>(id)] = true;
    }
    suffix.graph.nodes.push_back(node);
  }
  for (const Node& node : suffix.graph.nodes) {
    for (const ValueId id : node.inputs) {
      const bool outer = id != kNoValue && !is_dependent(id) && !graph.value(id).constant;
      if (outer && std::ranges::find(suffix.inputs, id) == suffix.inputs.end()) suffix.inputs.push_back(id);
    }
  }
  suffix.graph.inputs = suffix.inputs;
  suffix.graph.outputs.clear();
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    // The value itself may be an output. Quantization changes only the copy for its readers, so it is not an
    // output of the suffix.
    if (!is_dependent(graph.outputs[i]) || graph.outputs[i] == value) continue;
    suffix.graph.outputs.push_back(graph.outputs[i]);
    suffix.outputs.push_back(i);
  }
  return suffix;
}

}  // namespace hone::quantize
