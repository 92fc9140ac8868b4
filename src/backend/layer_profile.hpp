// Times of the layers of an optimized engine, as its system reports them.
#pragma once

#include <string>
#include <vector>

namespace hone::backend {

struct LayerTime {
  std::string name;
  /// Milliseconds of each profiled run.
  std::vector<double> times_ms = {};
  /// Names of the model's nodes that it computes, if the system reports them.
  std::vector<std::string> nodes = {};
};

/// Layers in the order of the engine. Profiling times every
/// layer, so their sum is more than the engine takes without it.
struct LayerProfile {
  std::vector<LayerTime> layers;
  /// Device milliseconds of the same number of runs without the profiler.
  std::vector<double> engine_ms;
  /// The system's own description of the engine, in JSON.
  std::string description;
};

}  // namespace hone::backend
