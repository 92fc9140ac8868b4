// See max_flow.hpp.
#include "backend/partition/max_flow.hpp"

#include <algorithm>
#include <queue>

namespace hone::backend::partition {

int32_t FlowNetwork::add_vertex() {
  edges_of_.emplace_back();
  return static_cast<int32_t>(edges_of_.size()) - 1;
}

void FlowNetwork::add_edge(int32_t from, int32_t to, int64_t capacity, int64_t back) {
  edges_of_[static_cast<size_t>(from)].push_back(static_cast<int32_t>(edges_.size()));
  edges_.push_back({to, std::min(capacity, kInfinite)});
  edges_of_[static_cast<size_t>(to)].push_back(static_cast<int32_t>(edges_.size()));
  edges_.push_back({from, std::min(back, kInfinite)});
}

bool FlowNetwork::find_levels() {
  level_.assign(edges_of_.size(), -1);
  level_[kSource] = 0;
  std::queue<int32_t> open;
  open.push(kSource);
  while (!open.empty()) {
    const int32_t at = open.front();
    open.pop();
    for (const int32_t id : edges_of_[static_cast<size_t>(at)]) {
      const Edge& edge = edges_[static_cast<size_t>(id)];
      if (edge.left == 0 || level_[static_cast<size_t>(edge.to)] >= 0) continue;
      level_[static_cast<size_t>(edge.to)] = level_[static_cast<size_t>(at)] + 1;
      open.push(edge.to);
    }
  }
  return level_[kSink] >= 0;
}

/// Searches depth first without recursion, because graphs of models are deep.
int64_t FlowNetwork::block_flow() {
  std::vector<size_t> next(edges_of_.size(), 0);
  std::vector<int32_t> path;
  int64_t total = 0;
  int32_t at = kSource;
  while (true) {
    if (at == kSink) {
      int64_t flow = kInfinite;
      for (const int32_t id : path) flow = std::min(flow, edges_[static_cast<size_t>(id)].left);
      for (const int32_t id : path) {
        edges_[static_cast<size_t>(id)].left -= flow;
        edges_[static_cast<size_t>(id ^ 1)].left += flow;
      }
      total += flow;
      path.clear();
      at = kSource;
      continue;
    }
    const std::vector<int32_t>& edges = edges_of_[static_cast<size_t>(at)];
    size_t& i = next[static_cast<size_t>(at)];
    while (i < edges.size()) {
      const Edge& edge = edges_[static_cast<size_t>(edges[i])];
      if (edge.left > 0 && level_[static_cast<size_t>(edge.to)] == level_[static_cast<size_t>(at)] + 1) break;
      ++i;
    }
    if (i < edges.size()) {
      path.push_back(edges[i]);
      at = edges_[static_cast<size_t>(edges[i])].to;
      continue;
    }
    if (at == kSource) return total;
    const int32_t back = path.back();
    path.pop_back();
    at = edges_[static_cast<size_t>(back ^ 1)].to;
    ++next[static_cast<size_t>(at)];
  }
}

int64_t FlowNetwork::maximise() {
  int64_t total = 0;
  while (find_levels()) total += block_flow();
  return total;
}

}  // namespace hone::backend::partition
