// How an engine on the CPU used its threads in each layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "trace/trace.hpp"

namespace hone::analysis {

/// Sums over all iterations.
struct LayerThreads {
  std::string name;
  int64_t calls = 0;
  double wall = 0;     ///< ns
  double cpu = 0;      ///< ns, of all threads
  double slowest = 0;  ///< ns of the thread that used the most CPU time
  /// Time of the slowest thread beyond an equal share of the layer's work, as a share of its time, 0 to 1; 0
  /// if all threads worked equally long.
  double imbalance = 0;
  /// Sums over all threads, only for user code; absent if the machine cannot count it.
  std::optional<double> cycles;
  std::optional<double> instructions;
  std::optional<double> cache_misses;

  /// Mean number of threads that worked at the same time.
  double parallelism() const { return wall > 0 ? cpu / wall : 0; }
};

struct LayerThreadTable {
  int64_t threads = 0;               ///< number of threads that worked in some layer
  std::vector<LayerThreads> layers;  ///< the longest first
};

/// Empty if thread times were not recorded.
LayerThreadTable analyze_layer_threads(const trace::Trace& trace);

Json to_json(const LayerThreadTable& table);

}  // namespace hone::analysis
