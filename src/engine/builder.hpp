// Builds an engine from a graph: passes, shapes, tactic search, packed weights.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/progress.hpp"
#include "engine/engine.hpp"
#include "engine/search/search_budget.hpp"

namespace hone::engine {

struct BuildOptions {
  std::string model;
  std::map<std::string, std::string> metadata;
  Precision precision = Precision::kFp32;
  /// Further precisions that single steps may use if that is faster.
  std::vector<Precision> other_precisions;
  int threads = 1;
  /// 0: takes the first tactic that accepts, and times nothing. 1: times tactics in the device's preferred
  /// layout. 2: also in whole networks, if steps overlap. 3: all layouts and batch groups. 4: the same with
  /// more samples. 5: also an exhaustive search.
  int optimization_level = 3;
  /// By input name; completed by complete_profiles() with OpenDims::kAnySize and `default_batch`.
  std::map<std::string, ShapeProfile> shapes;
  /// The size of symbolic dimensions of inputs without a profile.
  int64_t default_batch = 1;
  std::vector<std::string> disabled_passes;
  /// Folder or file of the timing cache; if both are empty, no cache is used.
  std::filesystem::path cache_folder;
  std::filesystem::path cache_file;
  /// Throws an environment error instead of timing what the cache lacks.
  bool cached_only = false;
  /// Limit on the seconds from the begin of the build to a tuned engine; infinite: no limit. Absent: the
  /// device's own limit (Device::search_seconds) at levels 1 to 3, no limit at higher levels.
  std::optional<double> budget_seconds;
  /// The start of the budget, if this engine is a part of a longer build; absent: now.
  std::optional<base::Clock::time_point> begin;
  /// Called during the search for tactics.
  std::function<void(const base::Progress&)> progress;
};

/// The time budget of a build with these options.
SearchBudget build_budget(const BuildOptions& options, const Device& device);

/// Bad input if the graph cannot run; usage error if a profile does not fit it; environment error for a
/// precision that the device lacks.
std::shared_ptr<Engine> build_engine(const graph::Graph& graph, const Device& device,
                                     const BuildOptions& options);

}  // namespace hone::engine
