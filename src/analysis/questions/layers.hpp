// The cost of each layer of a model: its time in every iteration, the kernels it ran, the work it did, how
// far that is from the device's peak, and how the layers add up to the iteration.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/questions/layer_graph.hpp"
#include "analysis/questions/steps.hpp"
#include "trace/cpu_roof.hpp"

namespace hone::analysis {

struct LayerKernel {
  std::string name;
  double calls = 0;  ///< in one iteration, mean
};

struct Layer {
  std::string name;
  std::string kind;    ///< operator; empty where not recorded
  std::string tactic;  ///< empty where not recorded
  std::string inputs;  ///< JSON, types and shapes; empty where not recorded
  std::string outputs;
  std::string sources;
  base::Summary time;  ///< ns in one iteration: on a GPU the sum of its events, on the CPU its own range
  std::vector<LayerKernel> kernels;
  double flops = 0;  ///< a multiply-add is two; 0 where not known
  double bytes = 0;  ///< inputs, weights and outputs once; 0 where not known
  double floor = 0;  ///< ns that the device needs at its measured rates; 0 where work or rates are not known

  /// Indices, among the layers, of the earlier ones whose outputs it reads; where no layer has any, they are
  /// not known.
  std::vector<int32_t> predecessors;
  std::vector<LayerRival> rivals;

  /// Per second, at the median time; 0 where not known.
  double flops_rate() const { return time.p50 > 0 ? flops * 1e9 / time.p50 : 0; }
  double bytes_rate() const { return time.p50 > 0 ? bytes * 1e9 / time.p50 : 0; }
  /// Median time over floor; 0 where there is no floor.
  double over_floor() const { return floor > 0 ? time.p50 / floor : 0; }
};

struct LayerTable {
  std::vector<Layer> layers;  ///< in the order in which they run
  /// Times of one iteration, ns: the layers added up, other work of the device, time in which the device did
  /// anything (events of several streams overlap), the iteration from the host's side, and all of it: from
  /// the end of the work of the one before to the end of its own.
  base::Summary layer_sum;
  base::Summary other_device;
  base::Summary device_busy;
  base::Summary host;
  base::Summary iteration;
  std::optional<base::Trend> trend;  ///< of the iterations, ns an iteration
  std::vector<std::string> notes;
};

/// Nanoseconds that the work needs at the rates of the CPU, from the memory that holds the bytes; 0 where the
/// rates of the precision were not measured.
double cpu_floor(const trace::CpuRoof& roof, const std::string& precision, double flops, double bytes);

/// A device event belongs to the layer in whose range its graph node was created or it was launched.
/// Iterations are the steps.
LayerTable analyze_layers(const trace::Trace& trace, const StepList& steps);

Json to_json(const LayerTable& table);

}  // namespace hone::analysis
