// The graph as the search for partitions sees it: which nodes read the outputs of which, and how large those
// are. Nodes that depend only on constants are folded before, so constants belong to no border.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.hpp"

namespace hone::backend::partition {

/// A value that is no constant, with its readers.
struct Flow {
  graph::ValueId value = graph::kNoValue;
  int32_t producer = -1;           ///< node; -1: the caller
  std::vector<int32_t> consumers;  ///< nodes, ascending and each once
  bool is_output = false;          ///< of the graph
  double bytes = 0;                ///< dimensions that are not known count as 1
};

struct Wiring {
  explicit Wiring(const graph::Graph& typed);

  size_t size() const { return predecessors.size(); }
  /// How many of these nodes min_block_size counts.
  int64_t count(std::span<const int32_t> nodes) const;

  std::vector<std::vector<int32_t>> predecessors;
  std::vector<Flow> flows;
  /// Nodes that only give a value another shape are not counted.
  std::vector<bool> counted;
};

/// The graph that is partitioned: the model's with constants folded and without dead nodes. Indices of nodes
/// in partitions are its own. Bad input for an archive, which has none, and where no node is left.
std::shared_ptr<const graph::Graph> prepare(const std::shared_ptr<const graph::Graph>& graph,
                                            const std::string& model);

/// Hash of a prepared graph's structure: operators, attributes, names, types and small constants; not
/// weights.
std::string fingerprint(const graph::Graph& prepared);

}  // namespace hone::backend::partition
