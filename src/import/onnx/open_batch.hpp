// Opens the batch of a model that was exported with a fixed batch, which is the default of exporters.
#pragma once

#include "graph/graph.hpp"

namespace hone::importer {

/// Returns the graph with the symbol "batch" as the first dimension of every input, if the operators process
/// the entries of a batch independently (graph::keeps_batch). A Reshape to a constant shape is changed to
/// keep the first dimension of its input. Throws bad input that names the obstacle: inputs with different
/// first dimensions, or a node that mixes entries.
graph::Graph open_batch(const graph::Graph& graph);

}  // namespace hone::importer
