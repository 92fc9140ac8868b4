// Converts layers of a quantized model back to floating point until it meets an accuracy budget.
#pragma once

#include <set>
#include <vector>

#include "quantize/layer_times.hpp"
#include "quantize/mixed_precision.hpp"
#include "quantize/placement.hpp"
#include "quantize/qdq.hpp"
#include "quantize/sensitivity.hpp"

namespace hone::quantize {

/// A model in which every suitable layer is in int8, and how it is written.
struct QuantizedForm {
  const graph::Graph& graph;
  const Placement& placement;
  /// The rules with which the placement was made.
  const PlacementRules& rules;
  const std::vector<ActivationScale>& scales;
  const QdqOptions& qdq;
};

/// Returns the quantized graph with these nodes (by index) kept in floating point; `placement` receives the
/// remaining quantizations. Values keep their scales.
graph::Graph with_qdq_but(const QuantizedForm& form, const std::set<int32_t>& kept, Placement* placement);

struct BudgetOptions {
  /// The greatest allowed Accuracy::loss().
  double loss = 0.01;
  TimeNodes time_nodes;
  std::function<void(const base::Progress&)> progress;
  const system::StopFlag* stop = nullptr;
};

/// Its lists are in the order of Placement::weighted.
struct BudgetResult {
  std::vector<Sensitivity> layers;
  LayerTimes times;
  MixedChoice choice;
  graph::Graph graph;
  /// The placement in `graph`.
  Placement placement;
};

/// `few`: samples on which the effects of single layers are measured; `few_labels`: the labels of their rows,
/// or none.
BudgetResult within_budget(const QuantizedForm& form, const Evaluator& evaluator,
                           const std::vector<Samples>& few, const std::vector<int64_t>& few_labels,
                           const MakeRunner& make_runner, const BudgetOptions& options);

/// Returns how many samples `few` may have, at most 32, so that all values of the model for them take about a
/// gigabyte.
int64_t samples_for_sensitivity(const graph::Graph& graph, const Samples& example);

}  // namespace hone::quantize
