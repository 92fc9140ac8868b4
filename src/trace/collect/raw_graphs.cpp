// See raw_graphs.hpp.
#include "trace/collect/raw_graphs.hpp"

#include <map>
#include <utility>

namespace hone::trace {

void RawGraphs::add_node(const raw::GraphNode& node, StringId range) {
  index_[node.id] = nodes_.size();
  nodes_.push_back({node.id, node.original, node.graph, range});
}

void RawGraphs::add_edge(const raw::GraphEdge& edge) { edges_.push_back(edge); }

int64_t RawGraphs::number(uint64_t id) {
  return numbers_.try_emplace(id, static_cast<int64_t>(numbers_.size()) + 1).first->second;
}

uint64_t RawGraphs::root_of(uint64_t id) const {
  // The number of steps is limited to the number of nodes: a damaged file can hold a cycle.
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const auto found = index_.find(id);
    if (found == index_.end() || nodes_[found->second].original == 0) break;
    id = nodes_[found->second].original;
  }
  return id;
}

void RawGraphs::add_to(Trace& trace, int64_t base) {
  std::unordered_map<uint64_t, std::vector<size_t>> copies;  // the copies of each root, including itself
  std::map<std::pair<uint32_t, uint64_t>, size_t> copy_in;   // by graph and root
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    const uint64_t root = root_of(node.id);
    copies[root].push_back(i);
    copy_in[{node.graph, root}] = i;
    const auto original = index_.find(root);
    const StringId range = original == index_.end() ? node.range : nodes_[original->second].range;
    trace.graph_nodes.push_back({base + number(node.id), base + static_cast<int64_t>(node.graph),
                                 node.original == 0 ? kNone : base + number(node.original), range});
  }
  for (const raw::GraphEdge& edge : edges_) {
    for (const size_t to : copies[root_of(edge.to)]) {
      const auto from = copy_in.find({nodes_[to].graph, root_of(edge.from)});
      if (from == copy_in.end()) continue;
      trace.graph_edges.push_back({base + number(nodes_[from->second].id), base + number(nodes_[to].id)});
    }
  }
}

}  // namespace hone::trace
