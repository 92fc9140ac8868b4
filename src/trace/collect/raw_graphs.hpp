// The CUDA graphs of one process, reconstructed from CUPTI's callbacks during their construction.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/collect/raw_records.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

/// CUPTI reports nodes and dependencies for the graph that is built. The graph that runs is a copy of it,
/// whose nodes are reported as clones. Here the clones get the ranges and dependencies of their originals.
class RawGraphs {
 public:
  void add_node(const raw::GraphNode& node, StringId range);
  void add_edge(const raw::GraphEdge& edge);
  /// CUPTI's ids are 64 bits wide; those of a trace are small numbers from 1.
  int64_t number(uint64_t id);
  /// Adds all nodes and edges with `base` added to their numbers.
  void add_to(Trace& trace, int64_t base);

 private:
  struct Node {
    uint64_t id;
    uint64_t original;
    uint32_t graph;
    StringId range;
  };

  /// The node at the start of a chain of clones.
  uint64_t root_of(uint64_t id) const;

  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, size_t> index_;
  std::vector<raw::GraphEdge> edges_;
  std::unordered_map<uint64_t, int64_t> numbers_;
};

}  // namespace hone::trace
