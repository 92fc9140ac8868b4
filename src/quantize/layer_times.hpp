// How long layers take in floating point and in int8.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "quantize/placement.hpp"

namespace hone::quantize {

/// Times of a graph whose tactics were searched: microseconds of the steps, each given to the nodes that it
/// stands for, in equal parts to those that have weights.
struct NodeTimes {
  std::map<std::string, double> nodes;
  /// The sum of all steps.
  double whole = 0;
};

/// Measures a graph with inputs of these sizes; nullopt where its device is not to be had. The folders above
/// bring it.
using TimeNodes =
    std::function<std::optional<NodeTimes>(const graph::Graph&, std::span<const tensor::Tensor> example)>;

struct LayerTime {
  double floating = 0;  ///< microseconds
  double int8 = 0;
  double won() const { return floating - int8; }
};

struct LayerTimes {
  /// True if they come from the operations and bytes of each layer and not from a clock.
  bool estimated = false;
  /// In the order of Placement::weighted.
  std::vector<LayerTime> layers;
  /// Time of the whole model; an estimate covers only the layers with weights.
  LayerTime whole;
};

/// By the clock where `time_nodes` has one, else estimated: the larger of operations / rate and bytes /
/// bandwidth, with the rates that one core with VNNI reaches (272 GFLOP/s, 1094 GOP/s of int8, 10 GB/s).
LayerTimes layer_times(const graph::Graph& graph, const graph::Graph& quantized, const Placement& placement,
                       std::span<const tensor::Tensor> example, const TimeNodes& time_nodes);

}  // namespace hone::quantize
