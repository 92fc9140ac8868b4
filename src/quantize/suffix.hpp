// The part of a model that follows one of its values.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace hone::quantize {

struct Suffix {
  /// The nodes that depend on the value. The graph's inputs are the value and all other values that these
  /// nodes read; its outputs are the model's outputs that depend on the value.
  graph::Graph graph;
  /// The inputs as values of the model; the first one is the value at which the model was cut.
  std::vector<graph::ValueId> inputs;
  /// Indices of its outputs among those of the model.
  std::vector<size_t> outputs;
};

Suffix suffix_of(const graph::Graph& graph, graph::ValueId value);

}  // namespace hone::quantize
