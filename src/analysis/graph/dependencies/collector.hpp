// Gathers the dependencies of operations from all rules, and keeps those that the times do not contradict.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/graph/event_graph.hpp"

namespace hone::analysis::dependencies {

/// Times of one device are exact to tens of ns, but some files round to microseconds, and clocks of host and
/// device agree to a few microseconds after their repair. An operation that overlaps by more was not waited
/// for.
constexpr Time kTolerance = 10'000;

class DependencyCollector {
 public:
  explicit DependencyCollector(const EventGraph& graph);

  /// Left out and counted when `on` began or (except in streams and graphs, where it may) went on after
  /// `dependent` began.
  void add(int32_t dependent, int32_t on, DependencyKind kind, bool inferred = false);
  /// When the last of the dependencies added so far allowed the operation to begin.
  Time ready(int32_t operation) const { return ready_[static_cast<size_t>(operation)]; }
  int64_t contradicted() const { return contradicted_; }
  int64_t inferred() const { return inferred_; }

  /// Each pair once, those of an operation together.
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
