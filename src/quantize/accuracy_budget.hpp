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

/// A model with every suitable layer in int8, and the settings with which it was written.
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

/// The result of a budget. Its lists are in the order of Placement::weighted.
struct BudgetResult {
  std::vector<Sensitivity> layers;
  LayerTimes times;
  MixedChoice choice;
  graph::Graph graph;
  /// The placement in `graph`.
  Placement placement;
};

/// `few` are the samples on which the effects of single layers are measured, and `few_labels` are the labels
/// of their rows, if there are labels.
BudgetResult within_budget(const QuantizedForm& form, const Evaluator& evaluator,
                           const std::vector<Samples>& few, const std::vector<int64_t>& few_labels,
                           const MakeRunner& make_runner, const BudgetOptions& options);

/// Returns the number of samples for `few`, at most 32, so that
/// all values of the model for them take about a gigabyte.
int64_t samples_for_sensitivity(const graph::Graph& graph, const Samples& example);

}  // namespace hone::quantize
