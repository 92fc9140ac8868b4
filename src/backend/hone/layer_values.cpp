// See layer_values.hpp.
#include "backend/hone/layer_values.hpp"

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "device/devices.hpp"
#include "engine/context.hpp"
#include "engine/fixed_cache_runs.hpp"
#include "graph/quantized_chain.hpp"
#include "graph/region.hpp"
#include "reference/interpreter.hpp"
#include "reference/kernel.hpp"
#include "tensor/convert.hpp"
#include "tensor/metrics.hpp"

namespace hone::backend {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using tensor::Tensor;

/// The suffix that quantize::with_qdq() adds to the name of a value for the output of its QuantizeLinear.
constexpr std::string_view kQuantizedEnding = "_quantize_output";
/// The suffix that passes add for the integers of a value that is moved before it is dequantized.
constexpr std::string_view kMovedEnding = ".integers";

/// A copy of the engine in which every value between steps is an output.
std::shared_ptr<engine::Engine> with_all_outputs(const engine::Engine& engine) {
  auto copy = std::make_shared<engine::Engine>(engine);
  Graph graph = *engine.graph;
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) {
      const bool known = id == kNoValue || std::ranges::find(graph.outputs, id) != graph.outputs.end();
      if (!known) graph.outputs.push_back(id);
    }
  }
  copy->graph = std::make_shared<const Graph>(std::move(graph));
  copy->micro_batch = 0;
  return copy;
}

/// The relation of integers to real numbers: value = scale * (integer - zero point).
struct Quantization {
  /// One scale, or one for each index of the axis.
  std::vector<float> scales;
  /// One for each scale.
  std::vector<int32_t> zero_points;
  /// Dimension of the tensor; -1 if one scale covers all of it.
  int axis = -1;
};

/// The quantization of the integers that a QuantizeLinear with these operands produces.
std::optional<Quantization> quantization_of(const Graph& graph, const Node& quantize) {
  const Tensor* scale = graph.constant(quantize.input(1));
  if (scale == nullptr) return std::nullopt;
  Quantization result;
  for (const double one : scale->to_double()) result.scales.push_back(static_cast<float>(one));
  result.zero_points.assign(result.scales.size(), 0);
  if (const Tensor* zero_point = graph.constant(quantize.input(2)); zero_point != nullptr) {
    const std::vector<double> zeros = zero_point->to_double();
    for (size_t i = 0; i < zeros.size() && i < result.scales.size(); ++i)
      result.zero_points[i] = static_cast<int32_t>(zeros[i]);
  }
  if (result.scales.size() > 1) result.axis = static_cast<int>(quantize.attributes.get_int("axis"));
  return result;
}

/// The node that produces an output of `node`; for a region, the part in it, with the region's operands.
Node maker_of(const Node& node, size_t output) {
  if (!graph::is_region(node)) return node;
  const Graph& body = graph::region_body(node);
  for (const Node& part : body.nodes) {
    for (size_t k = 0; k < part.outputs.size(); ++k) {
      if (part.outputs[k] == body.outputs[output]) return maker_of(graph::outer_part(node, part), k);
    }
  }
  return node;
}

/// The quantizations of all integer values that represent real numbers. An operator that is neither quantized
/// nor reads floats only moves the integers of its operand.
std::map<ValueId, Quantization> quantizations_of(const Graph& graph) {
  std::map<ValueId, Quantization> result;
  for (const Node& node : graph.nodes) {
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (!node.has_output(k) || !graph::is_byte(graph.value(node.outputs[k]).type.dtype)) continue;
      const Node maker = maker_of(node, k);
      const auto operand = result.find(node.input(0));
      if (maker.op == "QuantizeLinear") {
        if (const auto found = quantization_of(graph, maker)) result[node.outputs[k]] = *found;
      } else if (operand != result.end()) {
        result[node.outputs[k]] = operand->second;
      }
    }
  }
  return result;
}

Tensor dequantized(const Tensor& integers, const Quantization& quantization) {
  Tensor result(tensor::DType::kFloat32, integers.shape());
  const std::vector<double> values = integers.to_double();
  const auto floats = result.mutable_values<float>();
  size_t inner = 1;
  const bool by_channel = quantization.axis >= 0;
  for (auto i = static_cast<size_t>(quantization.axis + 1); by_channel && i < integers.shape().size(); ++i)
    inner *= static_cast<size_t>(integers.shape()[i]);
  for (size_t i = 0; i < floats.size(); ++i) {
    const size_t channel = by_channel ? i / inner % quantization.scales.size() : 0;
    floats[i] = static_cast<float>((values[i] - quantization.zero_points[channel]) *
                                   static_cast<double>(quantization.scales[channel]));
  }
  return result;
}

std::string float_name(const std::string& name, const std::map<std::string, std::string>& quantized) {
  if (const auto found = quantized.find(name); found != quantized.end()) return found->second;
  for (const std::string_view ending : {kQuantizedEnding, kMovedEnding}) {
    if (std::string_view(name).ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  return name;
}

Tensor as_float(const Tensor& tensor) {
  return tensor.dtype() == tensor::DType::kFloat32 ? tensor : tensor.cast(tensor::DType::kFloat32);
}

}  // namespace

LayerValues engine_values(const engine::Engine& engine, std::optional<tensor::Place> place, int threads,
                          std::span<const Tensor> inputs,
                          const std::map<std::string, std::string>& quantized) {
  if (engine::fixed_caches_of(engine))
    fail_usage("the engine has bound its caches, and its layers are not those of one run");
  const auto copy = with_all_outputs(engine);
  engine::Context context(copy, device::device_of_fingerprint(engine.fingerprint(), place), threads);
  const std::vector<Tensor> results = context.run(inputs);
  const auto quantizations = quantizations_of(*copy->graph);
  LayerValues values;
  for (size_t i = 0; i < results.size(); ++i) {
    const ValueId id = copy->graph->outputs[i];
    const std::string& name = copy->graph->value(id).name;
    if (const auto found = quantizations.find(id); found != quantizations.end()) {
      values.emplace(float_name(name, quantized), dequantized(results[i], found->second));
    } else if (tensor::is_floating(results[i].dtype())) {
      values.insert_or_assign(name, as_float(results[i]));
    }
  }
  return values;
}

LayerValues reference_values(const Graph& graph, std::span<const Tensor> inputs) {
  LayerValues values;
  reference::run_graph(graph, inputs, [&](const Node& node, std::span<const Tensor> results) {
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.has_output(k) && tensor::is_floating(results[k].dtype()))
        values.insert_or_assign(graph.value(node.outputs[k]).name, as_float(results[k]));
    }
  });
  return values;
}

std::map<std::string, double> own_errors(const Graph& reference, std::span<const Tensor> inputs,
                                         const LayerValues& values) {
  reference::check_inputs(reference, inputs);
  std::map<std::string, double> errors;
  std::vector<Tensor> state(reference.values.size());
  for (size_t i = 0; i < state.size(); ++i) {
    if (reference.values[i].constant) state[i] = *reference.values[i].constant;
  }
  for (size_t i = 0; i < inputs.size(); ++i) state[static_cast<size_t>(reference.inputs[i])] = inputs[i];
  for (const Node& node : reference.nodes) {
    std::vector<const Tensor*> arguments;
    for (const ValueId id : node.inputs)
      arguments.push_back(id == kNoValue ? nullptr : &state[static_cast<size_t>(id)]);
    std::vector<Tensor> results = reference::run_node(node, std::move(arguments));
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (!node.has_output(k)) continue;
      Tensor& place = state[static_cast<size_t>(node.outputs[k])];
      place = std::move(results[k]);
      const auto found = values.find(reference.value(node.outputs[k]).name);
      const bool fits = found != values.end() && tensor::is_floating(place.dtype()) &&
                        found->second.shape() == place.shape();
      if (!fits) continue;
      errors[found->first] = tensor::relative_l2(found->second, as_float(place));
      place = found->second.dtype() == place.dtype() ? found->second : found->second.cast(place.dtype());
    }
  }
  return errors;
}

bool has_integers(const engine::Engine& engine) { return !quantizations_of(*engine.graph).empty(); }

std::map<std::string, std::string> quantized_names(const Graph& graph) {
  std::map<std::string, std::string> names;
  for (const Node& node : graph.nodes) {
    if (node.op == "QuantizeLinear")
      names[graph.value(node.outputs[0]).name] = graph.value(node.inputs[0]).name;
  }
  return names;
}

}  // namespace hone::backend
