// Makes an engine from a graph: passes, shapes, tactic search, packed weights.
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
  /// Others that single steps may be in, where that is faster.
  std::vector<Precision> other_precisions;
  int threads = 1;
  /// 0: the first tactic that accepts, nothing is timed. 1: tactics are timed in the device's favourite
  /// layout. 2: where steps overlap, in whole networks, too. 3: all layouts and batch groups. 4: the same
  /// with more samples. 5: an exhaustive search, too.
  int optimization_level = 3;
  /// By input name, completed as complete_profiles() does with OpenDims::kAnySize and `default_batch`.
  std::map<std::string, ShapeProfile> shapes;
  /// Stands for symbolic dimensions of inputs without a profile.
  int64_t default_batch = 1;
  std::vector<std::string> disabled_passes;
  /// Folder of the timing cache, or its very file; both empty: none is read or written.
  std::filesystem::path cache_folder;
  std::filesystem::path cache_file;
  /// Environment error instead of timing what the cache lacks.
  bool cached_only = false;
  /// Seconds that building may take, from its beginning to a tuned engine; infinite: as long as it takes.
  /// Absent: the device's own limit (Device::search_seconds) at levels 1 to 3, none above.
  std::optional<double> budget_seconds;
  /// From which the budget counts, where this engine is a part of a longer building; absent: from now on.
  std::optional<base::Clock::time_point> begin;
  /// Called while tactics are searched.
  std::function<void(const base::Progress&)> progress;
};

/// The time that a build with these options may take.
SearchBudget build_budget(const BuildOptions& options, const Device& device);

/// Bad input when the graph cannot run, usage error when a profile does not fit it, environment error for a
/// precision that the device lacks.
std::shared_ptr<Engine> build_engine(const graph::Graph& graph, const Device& device,
                                     const BuildOptions& options);

}  // namespace hone::engine
