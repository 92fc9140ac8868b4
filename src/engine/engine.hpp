// An engine: an optimized graph and the plans of its steps, which define how one kind of device runs it. It
// contains only data. builder.hpp builds it, engine_file.hpp stores it, a LoadedEngine holds it on a device,
// and a Context runs it.
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

/// Value in `max` for a dimension without a largest size.
constexpr int64_t kAnySize = INT64_MAX;

/// The shapes of one input that the engine accepts, and the shape for which it was tuned.
struct ShapeProfile {
  Shape min;
  Shape opt;
  Shape max;
};

/// One candidate of the tactic search, for people.
struct TacticRecord {
  /// Name of a node, or of a piece of one.
  std::string step;
  /// The tactic with its variant.
  std::string tactic;
  Layout layout = Layout::kPlain;
  NumericPolicy policy;
  /// Microseconds, median of `samples` runs inside the whole network. With 0 samples, it refused or was not
  /// timed.
  double median_us = 0;
  double lower_quartile_us = 0;
  int samples = 0;
  bool chosen = false;
  Refusal refusal;
};

/// Limit on the threads of an engine, because each thread takes memory as soon as it exists.
constexpr int kMaxThreads = 1024;

/// The place of steps. It is abstract: loading chooses a device for it.
struct EnginePlace {
  /// The fingerprint of the device at build time.
  std::string fingerprint;
};

struct Engine {
  std::string model;
  /// Notes of the model's author: labels, preprocessing.
  std::map<std::string, std::string> metadata;
  /// StepPlan::place is an index into these; currently there is always one.
  std::vector<EnginePlace> places = std::vector<EnginePlace>(1);
  std::string hone_version;
  /// The policies that its steps may have; the first is the engine's own, which steps without a plan use.
  std::vector<NumericPolicy> policies = std::vector<NumericPolicy>(1);
  /// Number of threads with which the tactics were timed.
  int threads = 1;
  std::shared_ptr<const graph::Graph> graph;
  /// The range of shapes of every input.
  std::map<std::string, ShapeProfile> shapes;
  /// The layout of images between steps without a plan.
  Layout layout = Layout::kPlain;
  /// Plans of the nodes that a search decided, and of the pieces of dissolved nodes; empty if there was no
  /// search.
  Plans plans;
  /// Number of images that run through the network together; larger batches run in groups of this size. 0:
  /// all at once.
  int64_t micro_batch = 0;
  /// The packed forms that the program of the tuned shapes reads.
  WeightStore weights;
  std::vector<transform::Summary> passes;
  std::vector<TacticRecord> log;
  /// Why no tactic was timed although the build should have timed them; empty if there was no problem.
  std::string not_timed;
  /// The parts of the tactic search for which the time was too short; empty if there were none.
  std::string cut_short;
  // Properties of the build in this process. They are not part of the file, which depends only on the
  // choices.
  double build_seconds = 0;
  bool tuned = false;  ///< tactics were timed, not all of them taken from the cache

  const std::string& fingerprint() const { return places.front().fingerprint; }
  const NumericPolicy& policy() const { return policies.front(); }
  Precision precision() const { return precision_of(policy()); }
};

}  // namespace hone::engine
