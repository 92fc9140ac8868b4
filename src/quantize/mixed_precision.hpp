// Chooses the layers that stay in floating point so that a model keeps its accuracy.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "base/progress.hpp"
#include "quantize/evaluation.hpp"
#include "quantize/layer_times.hpp"
#include "quantize/placement.hpp"
#include "quantize/sensitivity.hpp"

namespace hone::quantize {

/// One model that was tried.
struct MixedModel {
  /// Layers in floating point, as indices into Placement::weighted of the model with every suitable layer in
  /// int8.
  std::vector<size_t> kept;
  Accuracy accuracy;
  /// In microseconds: the time of the model in floating point minus the gain of each layer in int8.
  double time = 0;
  /// True if no other tried model is at least as accurate and as fast, and better in one of the two.
  bool on_front = false;
};

struct MixedChoice {
  /// Models in the order in which they were tried.
  std::vector<MixedModel> tried;
  size_t chosen = 0;
  /// True if the chosen model is within the budget.
  bool met = false;
};

struct MixedOptions {
  /// The greatest allowed Accuracy::loss().
  double budget = 0.01;
  std::function<void(const base::Progress&)> progress;
};

/// Returns the model with these layers in floating point.
using WriteMixed = std::function<graph::Graph(const std::vector<size_t>& kept)>;

/// Layers return to floating point in the order of their effect on the loss per microsecond gained; layers
/// without a gain come first. Only this order assumes that effects are additive: each number of layers is
/// judged by the loss of the whole model. The search tries 0, 1, 2, 4, … layers until the budget holds, then
/// bisects; afterwards it tries the layers with the largest gains in int8 again. At least one layer stays in
/// int8. If even that exceeds the budget, the result is the model with the least loss; of equal ones, the
/// fastest.
MixedChoice choose_mixed(const std::vector<Sensitivity>& sensitivities, const LayerTimes& times,
                         const Evaluator& evaluator, const WriteMixed& write, const MixedOptions& options);

}  // namespace hone::quantize
