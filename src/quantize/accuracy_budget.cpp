// See accuracy_budget.hpp.
#include "quantize/accuracy_budget.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "graph/infer.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using graph::ValueId;

constexpr double kCapturedBytes = 1e9;
constexpr int64_t kMostSamples = 32;
/// Number of samples if the sizes of a model's values depend on data, so that memory cannot be predicted.
constexpr int64_t kCarefulSamples = 4;

std::set<int32_t> nodes_of(const Placement& placement, const std::vector<size_t>& layers) {
  std::set<int32_t> nodes;
  for (const size_t layer : layers) nodes.insert(placement.weighted[layer].node);
  return nodes;
}

}  // namespace

Graph with_qdq_but(const QuantizedForm& form, const std::set<int32_t>& kept, Placement* placement) {
  PlacementRules rules = form.rules;
  rules.kept = kept;
  Placement left = kept.empty() ? form.placement : place(form.graph, rules);
  std::map<ValueId, size_t> known;
  for (size_t i = 0; i < form.placement.values.size(); ++i) known[form.placement.values[i].value] = i;
  std::vector<ActivationScale> scales;
  for (const QuantizedValue& value : left.values) {
    const auto found = known.find(value.value);
    if (found == known.end()) fail_internal("a value that is quantized when less is quantized has no range");
    scales.push_back(form.scales[found->second]);
  }
  Graph graph = with_qdq(form.graph, left, scales, form.qdq);
  if (placement != nullptr) *placement = std::move(left);
  return graph;
}

BudgetResult within_budget(const QuantizedForm& form, const Evaluator& evaluator,
                           const std::vector<Samples>& few, const std::vector<int64_t>& few_labels,
                           const MakeRunner& make_runner, const BudgetOptions& options) {
  BudgetResult result;
  const SensitivityOptions how{form.qdq, few_labels, options.progress, options.stop};
  result.layers = measure_sensitivity(form.graph, form.placement, form.scales, few, make_runner, how);
  const Graph all = with_qdq_but(form, {}, nullptr);
  result.times = layer_times(form.graph, all, form.placement, few.front().inputs, options.time_nodes);
  const auto write = [&](const std::vector<size_t>& kept) {
    return with_qdq_but(form, nodes_of(form.placement, kept), nullptr);
  };
  result.choice =
      choose_mixed(result.layers, result.times, evaluator, write, {options.loss, options.progress});
  const MixedModel& chosen = result.choice.tried[result.choice.chosen];
  result.graph = with_qdq_but(form, nodes_of(form.placement, chosen.kept), &result.placement);
  return result;
}

int64_t samples_for_sensitivity(const Graph& graph, const Samples& example) {
  try {
    std::map<std::string, tensor::Shape> shapes;
    for (size_t i = 0; i < example.inputs.size(); ++i)
      shapes[graph.value(graph.inputs[i]).name] = example.inputs[i].shape();
    const Graph sized = graph::with_input_shapes(graph, shapes);
    double bytes = 1;
    for (const graph::Node& node : sized.nodes) {
      for (const ValueId id : node.outputs) {
        if (id == graph::kNoValue || !sized.value(id).type.fully_known()) continue;
        double size = sizeof(float);
        for (const graph::Dim& dim : *sized.value(id).type.dims) size *= static_cast<double>(dim.value());
        bytes += size;
      }
    }
    const double runs = kCapturedBytes / bytes * static_cast<double>(example.count);
    return std::clamp(static_cast<int64_t>(std::min(runs, 1e6)), example.count,
                      std::max(example.count, kMostSamples));
  } catch (const Error&) {
    return std::max(example.count, kCarefulSamples);
  }
}

}  // namespace hone::quantize
