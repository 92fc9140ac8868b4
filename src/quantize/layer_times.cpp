// See layer_times.hpp.
#include "quantize/layer_times.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "graph/infer.hpp"
#include "graph/operator.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using tensor::Tensor;

constexpr double kFloatRate = 272e3;  // flop per microsecond
constexpr double kInt8Rate = 1094e3;
constexpr double kBandwidth = 10e3;  // bytes per microsecond
constexpr double kInt8Bytes = 0.25;  // bytes of int8 relative to float32

LayerTimes estimated(const Graph& graph, const Placement& placement, std::span<const Tensor> example) {
  LayerTimes times;
  times.estimated = true;
  std::map<std::string, tensor::Shape> shapes;
  for (size_t i = 0; i < example.size(); ++i) shapes[graph.value(graph.inputs[i]).name] = example[i].shape();
  const Graph sized = graph::with_input_shapes(graph, shapes);
  for (const WeightedNode& weighted : placement.weighted) {
    const auto cost = graph::node_cost(sized, sized.nodes[static_cast<size_t>(weighted.node)]);
    LayerTime time;
    if (cost) {
      time.floating = std::max(cost->flops / kFloatRate, cost->bytes / kBandwidth);
      time.int8 = std::max(cost->flops / kInt8Rate, kInt8Bytes * cost->bytes / kBandwidth);
    }
    times.whole.floating += time.floating;
    times.whole.int8 += time.int8;
    times.layers.push_back(time);
  }
  return times;
}

}  // namespace

LayerTimes layer_times(const Graph& graph, const Graph& quantized, const Placement& placement,
                       std::span<const Tensor> example, const TimeNodes& time_nodes) {
  const auto floating = time_nodes ? time_nodes(graph, example) : std::nullopt;
  const auto int8 = floating ? time_nodes(quantized, example) : std::nullopt;
  if (!int8) return estimated(graph, placement, example);
  LayerTimes times;
  times.whole = {floating->whole, int8->whole};
  const auto time_of = [](const NodeTimes& all, const std::string& name) {
    const auto found = all.nodes.find(name);
    return found == all.nodes.end() ? 0.0 : found->second;
  };
  for (const WeightedNode& weighted : placement.weighted) {
    const std::string& name = graph.nodes[static_cast<size_t>(weighted.node)].name;
    times.layers.push_back({time_of(*floating, name), time_of(*int8, name)});
  }
  return times;
}

}  // namespace hone::quantize
