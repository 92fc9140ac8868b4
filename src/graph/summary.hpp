// What a graph weighs: parameters, work and memory traffic of one execution.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "graph/graph.hpp"

namespace hone::graph {

struct GraphSummary {
  /// Elements of floating-point constants of rank 1 and more, without the statistics of batch
  /// normalization: what frameworks call the parameters of a network.
  int64_t parameters = 0;
  /// Elements of running means and variances.
  int64_t statistics = 0;
  /// Bytes of every constant.
  int64_t constant_bytes = 0;
  /// Sums over the nodes; a multiply-add counts as two operations. Bytes are inputs read and outputs written.
  double flops = 0;
  double bytes = 0;
  std::map<std::string, double> flops_by_operator;
  /// Nodes whose shapes are not known, which the sums leave out.
  int64_t unknown_nodes = 0;
};

/// Bind symbolic dimensions first (with_input_shapes), or most nodes are unknown.
GraphSummary summarize(const Graph& graph);

}  // namespace hone::graph
