// Collects the dependencies of operations from all rules, and keeps those that do not contradict the times.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/graph/event_graph.hpp"

namespace hone::analysis::dependencies {

/// Times of one device are exact to tens of ns, but some files round to microseconds, and even corrected
/// clocks of host and device differ by a few microseconds. If two operations overlap by more than this, the
/// later one did not wait for the earlier one.
constexpr Time kTolerance = 10'000;

class DependencyCollector {
 public:
  explicit DependencyCollector(const EventGraph& graph);

  /// Adds a dependency. It is left out and counted as contradicted if `on` began after `dependent`, or if it
  /// ended after `dependent` began. Operations in streams and graphs may overlap, so the second condition
  /// does not apply to them.
  void add(int32_t dependent, int32_t on, DependencyKind kind, bool inferred = false);
  /// The earliest time at which the dependencies added so far allowed the operation to begin.
  Time ready(int32_t operation) const { return ready_[static_cast<size_t>(operation)]; }
  int64_t contradicted() const { return contradicted_; }
  int64_t inferred() const { return inferred_; }

  /// Writes the dependencies to the graph, each pair once, grouped by operation.
  void store(EventGraph& graph) const;

 private:
  struct Edge {
    int32_t dependent;
    Dependency dependency;
  };
  const EventGraph& graph_;
  std::vector<Edge> edges_;
  std::vector<Time> ready_;
  int64_t contradicted_ = 0;
  int64_t inferred_ = 0;
};

}  // namespace hone::analysis::dependencies
