// How an engine on the CPU used its threads, layer by layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "trace/trace.hpp"

namespace hone::analysis {

/// Over all iterations.
struct LayerThreads {
  std::string name;
  int64_t calls = 0;
  double wall = 0;     ///< ns
  double cpu = 0;      ///< ns, of all threads
  double slowest = 0;  ///< ns of the thread that used most
  /// Share of the slowest thread's time beyond its fair share of the layer's work, 0 to 1: 0 when all threads
  /// worked the same time.
  double imbalance = 0;
  /// Sums over all threads, user code only; absent where the machine does not count it.
  std::optional<double> cycles;
  std::optional<double> instructions;
  std::optional<double> cache_misses;

  /// Threads at work on average.
  double parallelism() const { return wall > 0 ? cpu / wall : 0; }
};

struct LayerThreadTable {
  int64_t threads = 0;               ///< that worked in some layer
  std::vector<LayerThreads> layers;  ///< the longest first
};

/// Empty where no threads were counted.
LayerThreadTable analyze_layer_threads(const trace::Trace& trace);

Json to_json(const LayerThreadTable& table);

}  // namespace hone::analysis
