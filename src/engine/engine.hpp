// An engine: an optimised graph and the plans of its steps, which say how one kind of device runs it. Data
// only; a LoadedEngine has it on a device, a Context runs it. Built by builder.hpp, stored by
// engine_file.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/refusal.hpp"
#include "engine/kernel.hpp"
#include "engine/step_plan.hpp"
#include "graph/graph.hpp"
#include "transform/pass.hpp"

namespace hone::engine {

/// Stands in `max` for a dimension without a largest size.
constexpr int64_t kAnySize = INT64_MAX;

/// Shapes of one input that the engine accepts, and the one it was tuned for.
struct ShapeProfile {
  Shape min;
  Shape opt;
  Shape max;
};

/// One candidate of the tactic search, for people.
struct TacticRecord {
  /// A node, or a piece of one, by name.
  std::string step;
  /// The tactic with its variant.
  std::string tactic;
  Layout layout = Layout::kPlain;
  NumericPolicy policy;
  /// Microseconds, median of `samples` runs inside the whole network; 0 samples: it refused, or was not
  /// timed.
  double median_us = 0;
  double lower_quartile_us = 0;
  int samples = 0;
  bool chosen = false;
  Refusal refusal;
};

/// Threads an engine may ask for; each costs memory as soon as it is there.
constexpr int kMaxThreads = 1024;

/// The place of steps. Abstract: loading finds a device for it.
struct EnginePlace {
  /// The fingerprint of the device at build time.
  std::string fingerprint;
};

struct Engine {
  std::string model;
  /// Notes of the model's author: labels, preprocessing.
  std::map<std::string, std::string> metadata;
  /// StepPlan::place is an index into these; one today.
  std::vector<EnginePlace> places = std::vector<EnginePlace>(1);
  std::string hone_version;
  /// The policies that its steps may have; the first is the engine's own, in which steps without a plan run.
  std::vector<NumericPolicy> policies = std::vector<NumericPolicy>(1);
  /// Threads the tactics were timed with.
  int threads = 1;
  std::shared_ptr<const graph::Graph> graph;
  /// The range of shapes of every input.
  std::map<std::string, ShapeProfile> shapes;
  /// The layout of images between steps without a plan.
  Layout layout = Layout::kPlain;
  /// Plans of the nodes for which a search has chosen, and of the pieces of those that are dissolved; empty
  /// if there was no search.
  Plans plans;
  /// Images that run through the network together; larger batches run in groups of this size. 0: all at once.
  int64_t micro_batch = 0;
  /// The forms that the program of the tuned shapes reads.
  WeightStore weights;
  std::vector<transform::Summary> passes;
  std::vector<TacticRecord> log;
  /// Why no tactic was timed although the build was to do so; empty when all is well.
  std::string not_timed;
  /// The parts of the search for tactics that the time did not suffice for; empty if there were none.
  std::string cut_short;
  // Figures of the build in this process; no part of the file, which is the same whenever the same choices
  // are made.
  double build_seconds = 0;
  bool tuned = false;  ///< tactics were timed, not all of them taken from the cache

  const std::string& fingerprint() const { return places.front().fingerprint; }
  const NumericPolicy& policy() const { return policies.front(); }
  Precision precision() const { return precision_of(policy()); }
};

}  // namespace hone::engine
