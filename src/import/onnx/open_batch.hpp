// Opens the batch of a model that was exported with a fixed one, as exporters do unless they are told
// otherwise.
#pragma once

#include "graph/graph.hpp"

namespace hone::importer {

/// The same graph with the symbol "batch" as the first dimension of every input, where the operators keep the
/// entries of a batch apart (graph::keeps_batch); a Reshape to a constant shape keeps what it is given first.
/// Bad input naming what is in the way: inputs of different first dimensions, or a node that mixes entries.
graph::Graph open_batch(const graph::Graph& graph);

}  // namespace hone::importer
