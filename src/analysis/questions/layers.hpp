// The cost of each layer of a model: its time in every iteration, its kernels, its work, its distance from
// the device's peak rates, and the sum of all layers compared with the iteration.
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
  double calls = 0;  ///< mean number of calls in one iteration
};

struct Layer {
  std::string name;
  std::string kind;    ///< operator; empty if not recorded
  std::string tactic;  ///< empty where not recorded
  std::string inputs;  ///< types and shapes as JSON; empty if not recorded
  std::string outputs;
  std::string sources;
  base::Summary time;  ///< ns in one iteration: on a GPU the sum of its events, on the CPU its own range
  std::vector<LayerKernel> kernels;
  double flops = 0;  ///< a multiply-add counts as two; 0 if unknown
  double bytes = 0;  ///< inputs, weights and outputs, each once; 0 if unknown
  double floor = 0;  ///< ns that the device needs at its measured rates; 0 if work or rates are unknown

  /// Indices of the earlier layers whose outputs it reads. If no layer has any, they are unknown.
  std::vector<int32_t> predecessors;
  std::vector<LayerRival> rivals;

  /// Per second, at the median time; 0 if unknown.
  double flops_rate() const { return time.p50 > 0 ? flops * 1e9 / time.p50 : 0; }
  double bytes_rate() const { return time.p50 > 0 ? bytes * 1e9 / time.p50 : 0; }
  /// Median time divided by floor; 0 if there is no floor.
  double over_floor() const { return floor > 0 ? time.p50 / floor : 0; }
};

struct LayerTable {
  std::vector<Layer> layers;  ///< in the order in which they run
  /// Times of one iteration, ns: the sum of the layers; other work of the device; the time in which the
  /// device was busy (events of several streams overlap); the iteration on the host; and the whole iteration,
  /// from the end of the previous one's work to the end of its own work.
  base::Summary layer_sum;
  base::Summary other_device;
  base::Summary device_busy;
  base::Summary host;
  base::Summary iteration;
  std::optional<base::Trend> trend;  ///< of the iterations, ns per iteration
  std::vector<std::string> notes;
};

/// Nanoseconds that the work needs at the CPU's rates, with the bandwidth of the memory that can hold the
/// bytes; 0 if the rates of the precision were not measured.
double cpu_floor(const trace::CpuRoof& roof, const std::string& precision, double flops, double bytes);

/// A device event belongs to the layer in whose range its graph node was created or it was launched.
/// Iterations are the steps.
LayerTable analyze_layers(const trace::Trace& trace, const StepList& steps);

Json to_json(const LayerTable& table);

}  // namespace hone::analysis
