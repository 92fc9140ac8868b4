// See collector.hpp.
#include "analysis/graph/dependencies/collector.hpp"

#include <algorithm>
#include <limits>

namespace hone::analysis::dependencies {
namespace {

bool may_overlap(DependencyKind kind) {
  return kind == DependencyKind::kStreamOrder || kind == DependencyKind::kGraph;
}

}  // namespace

DependencyCollector::DependencyCollector(const EventGraph& graph)
    : graph_(graph), ready_(graph.operations.size(), std::numeric_limits<Time>::min()) {
  edges_.reserve(graph.operations.size());
}

void DependencyCollector::add(int32_t dependent, int32_t on, DependencyKind kind, bool inferred) {
  if (dependent == on) return;
  const Operation& later = graph_.operations[static_cast<size_t>(dependent)];
  const Operation& earlier = graph_.operations[static_cast<size_t>(on)];
  const bool overlapping = earlier.leave > later.enter;
  if (on > dependent || (!may_overlap(kind) && earlier.leave - later.enter > kTolerance)) {
    ++contradicted_;
    return;
  }
  edges_.push_back({dependent, {on, kind, inferred, overlapping}});
  if (inferred) ++inferred_;
  Time& ready = ready_[static_cast<size_t>(dependent)];
  ready = std::max(ready, std::min(earlier.leave, later.enter));
}

void DependencyCollector::store(EventGraph& graph) const {
  const size_t count = graph.operations.size();
  std::vector<int32_t> first(count + 1, 0);
  for (const Edge& edge : edges_) ++first[static_cast<size_t>(edge.dependent) + 1];
  for (size_t i = 0; i < count; ++i) first[i + 1] += first[i];
  std::vector<Dependency> sorted(edges_.size());
  std::vector<int32_t> next(first.begin(), first.end() - 1);
  for (const Edge& edge : edges_) {
    int32_t& place = next[static_cast<size_t>(edge.dependent)];
    sorted[static_cast<size_t>(place++)] = edge.dependency;
  }
  // If two rules found the same pair, the kind of the first one is kept.
  std::vector<int32_t> seen(count, -1);
  graph.dependencies.clear();
  graph.first_dependency.assign(1, 0);
  for (size_t i = 0; i < count; ++i) {
    for (int32_t at = first[i]; at < first[i + 1]; ++at) {
      int32_t& stamp = seen[static_cast<size_t>(sorted[static_cast<size_t>(at)].operation)];
      if (stamp == static_cast<int32_t>(i)) continue;
      stamp = static_cast<int32_t>(i);
      graph.dependencies.push_back(sorted[static_cast<size_t>(at)]);
    }
    graph.first_dependency.push_back(static_cast<int32_t>(graph.dependencies.size()));
  }
}

}  // namespace hone::analysis::dependencies
