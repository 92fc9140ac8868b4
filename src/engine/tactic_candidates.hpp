// What a tactic search knows of every step: its candidates with their times, and which one is chosen.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/timing_cache.hpp"

namespace hone::engine {

struct Candidate {
  std::string tactic;
  /// Microseconds, of all steps that share the candidates.
  std::vector<double> times;
  TimingEntry::Time cached;
};

/// Steps that would be timed alike share one: what is chosen for one of them is chosen for all.
struct StepSearch {
  std::string signature;
  /// Nodes of the graph.
  std::vector<size_t> nodes;
  /// The first is the device's favourite.
  std::vector<Candidate> candidates;
  /// "tactic: reason".
  std::vector<std::string> refusals;
  bool cached = false;
  size_t chosen = 0;

  double median(size_t candidate) const;
  /// Takes candidates and choice from an earlier search.
  void use(const TimingEntry& entry);
  /// Keeps the favourite unless another one's median is clearly below its median and below its lower
  /// quartile, so that noise wins nothing.
  void choose();
  /// Moves a candidate to the refusals.
  void refuse(size_t candidate, const std::string& reason);
  /// For the cache; fills in the candidates' summaries.
  TimingEntry entry();
};

/// All steps of a graph in one layout.
struct LayoutSearch {
  Layout layout = Layout::kPlain;
  std::vector<StepSearch> steps;
  /// Chosen tactic per node, as ProgramOptions takes them.
  std::vector<std::string> tactics(size_t node_count) const;
};

/// Steps of the graph by signature, with what the cache knows of them. An exhaustive search has times of its
/// own there, for it knows more candidates.
LayoutSearch find_steps(const graph::Graph& graph, Layout layout, Precision precision, bool exhaustive,
                        const TimingCache& cache);

}  // namespace hone::engine
