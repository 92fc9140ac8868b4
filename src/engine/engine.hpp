// An engine: an optimised graph with everything decided about how one kind of device runs it. Data only;
// a LoadedEngine has it on a device, a Context runs it. Built by builder.hpp, stored by engine_file.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/kernel.hpp"
#include "engine/step_key.hpp"
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

/// One candidate of the tactic search.
struct TacticRecord {
  std::string step;
  std::string tactic;
  Layout layout = Layout::kPlain;
  /// Microseconds, median of `samples` runs inside the whole network; 0 samples: it refused, or was not
  /// timed.
  double median_us = 0;
  double lower_quartile_us = 0;
  int samples = 0;
  bool chosen = false;
  std::string refusal;
};

/// Threads an engine may ask for; each costs memory as soon as it is there.
constexpr int kMaxThreads = 1024;

struct Engine {
  std::string model;
  /// What the model's author says about it: labels, preprocessing.
  std::map<std::string, std::string> metadata;
  /// The device's fingerprint at build time.
  std::string fingerprint;
  std::string hone_version;
  Precision precision = Precision::kFp32;
  /// Threads the tactics were timed with.
  int threads = 1;
  std::shared_ptr<const graph::Graph> graph;
  /// Of every input.
  std::map<std::string, ShapeProfile> shapes;
  Layout layout = Layout::kPlain;
  /// Chosen tactic per node; empty: the first that accepts.
  std::vector<std::string> tactics;
  /// The same of each piece of the nodes that are dissolved.
  std::map<StepKey, std::string> pieces;
  /// Images that run through the network together; larger batches run in groups of this size. 0: all at once.
  int64_t micro_batch = 0;
  /// The forms that the program of the tuned shapes reads.
  WeightStore weights;
  std::vector<transform::Summary> passes;
  std::vector<TacticRecord> log;
  /// Why no tactic was timed although the build was to do so; empty when all is well.
  std::string not_timed;
  /// What the search for tactics had no time for; empty when it had time for everything.
  std::string cut_short;
  // Of this process's building; no part of the file, which is the same whenever the same choices are made.
  double build_seconds = 0;
  bool tuned = false;  ///< tactics were timed, not all of them taken from the cache
};

}  // namespace hone::engine
