// Which layers stay in floating point so that a model keeps its accuracy.
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
  /// Layers in floating point, by index into Placement::weighted of the model that has all in int8.
  std::vector<size_t> kept;
  Accuracy accuracy;
  /// Microseconds: that of the model with all in floating point less what each layer in int8 wins.
  double time = 0;
  /// No other one that was tried is both as accurate and as fast, and better in one of the two.
  bool on_front = false;
};

struct MixedChoice {
  /// Models in the order in which they were tried.
  std::vector<MixedModel> tried;
  size_t chosen = 0;
  /// True if the chosen one is within the budget.
  bool met = false;
};

struct MixedOptions {
  /// The most that Accuracy::loss() may be.
  double budget = 0.01;
  std::function<void(const base::Progress&)> progress;
};

/// The model with these layers in floating point.
using WriteMixed = std::function<graph::Graph(const std::vector<size_t>& kept)>;

/// Layers go back to floating point in the order of effect lost per microsecond won, those first that win
/// none. The effects of layers are taken as additive for the order only: each number of layers is judged by
/// the loss of the whole model. Tried are 0, 1, 2, 4, … layers until the budget holds and then the numbers
/// between; of the layers that went back, those that win most are tried in int8 again. At least one layer
/// stays in int8; where even that breaks the budget, the choice is the model with the least loss, of equals
/// the fastest.
MixedChoice choose_mixed(const std::vector<Sensitivity>& sensitivities, const LayerTimes& times,
                         const Evaluator& evaluator, const WriteMixed& write, const MixedOptions& options);

}  // namespace hone::quantize
