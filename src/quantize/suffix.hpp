// The rest of a model after one of its values.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace hone::quantize {

struct Suffix {
  /// The nodes that depend on the value. Its inputs are the value and what else these nodes read; its outputs
  /// are the model's that depend on it.
  graph::Graph graph;
  /// The inputs, as values of the model; the first is the value that was cut at.
  std::vector<graph::ValueId> inputs;
  /// Its outputs among those of the model.
  std::vector<size_t> outputs;
};

Suffix suffix_of(const graph::Graph& graph, graph::ValueId value);

}  // namespace hone::quantize
