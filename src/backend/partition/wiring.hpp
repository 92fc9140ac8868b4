// The graph in the form that the search for partitions needs: the predecessors of each node, and the sizes of
// their outputs. Nodes that depend only on constants are folded before, so constants never cross a border.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.hpp"

namespace hone::backend::partition {

/// A value that is not a constant, with its readers.
struct Flow {
  graph::ValueId value = graph::kNoValue;
  int32_t producer = -1;           ///< node; -1 for the caller
  std::vector<int32_t> consumers;  ///< nodes, ascending and each once
  bool is_output = false;          ///< true for an output of the graph
  double bytes = 0;                ///< unknown dimensions count as 1
};

struct Wiring {
  explicit Wiring(const graph::Graph& typed);

  size_t size() const { return predecessors.size(); }
  /// The number of these nodes that count for min_block_size.
  int64_t count(std::span<const int32_t> nodes) const;

  std::vector<std::vector<int32_t>> predecessors;
  std::vector<Flow> flows;
  /// False for nodes that only change the shape of a value.
  std::vector<bool> counted;
};

/// The graph that is partitioned: the model's graph with folded constants and without dead nodes. Node
/// indices in partitions refer to it. Bad input for an archive, which has no graph, or if no node is left.
std::shared_ptr<const graph::Graph> prepare(const std::shared_ptr<const graph::Graph>& graph,
                                            const std::string& model);

/// Hash of a prepared graph's structure: operators, attributes, names, types and small constants; not
/// weights.
std::string fingerprint(const graph::Graph& prepared);

}  // namespace hone::backend::partition
