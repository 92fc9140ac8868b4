// The times of layers in floating point and in int8.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "quantize/placement.hpp"

namespace hone::quantize {

/// Times of a graph after a tactic search. The time of each step, in microseconds, is divided equally among
/// the nodes with weights that it contains.
struct NodeTimes {
  std::map<std::string, double> nodes;
  /// The sum over all steps.
  double whole = 0;
};

/// Measures a graph with inputs of these sizes; nullopt if its device is not available. Higher layers of the
/// code provide it.
using TimeNodes =
    std::function<std::optional<NodeTimes>(const graph::Graph&, std::span<const tensor::Tensor> example)>;

struct LayerTime {
  double floating = 0;  ///< microseconds
  double int8 = 0;
  double won() const { return floating - int8; }
};

struct LayerTimes {
  /// True if the times were estimated from operations and bytes of each layer, not measured.
  bool estimated = false;
  /// In the order of Placement::weighted.
  std::vector<LayerTime> layers;
  /// Time of the whole model; an estimate covers only the layers with weights.
  LayerTime whole;
};

/// Measures with `time_nodes` if it can, else estimates: the larger of operations / rate and bytes /
/// bandwidth, with the rates of one core with VNNI (272 GFLOP/s, 1094 GOP/s for int8, 10 GB/s).
LayerTimes layer_times(const graph::Graph& graph, const graph::Graph& quantized, const Placement& placement,
                       std::span<const tensor::Tensor> example, const TimeNodes& time_nodes);

}  // namespace hone::quantize
