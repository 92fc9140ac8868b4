// Why one recording of a model is faster than another: layers matched by the nodes of the model they come
// from, whatever was fused into what, and a waterfall from one iteration to the other that adds up.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analysis/questions/iteration_idle.hpp"
#include "analysis/questions/kernel_exchanges.hpp"
#include "analysis/questions/layers.hpp"
#include "trace/recording_cost.hpp"

namespace hone::analysis {

/// A mean over iterations, ns, with the half-width of its 95 % confidence interval (Student's t), which one
/// iteration does not give.
struct Estimate {
  double mean = 0;
  std::optional<double> half_width = 0;
};

/// True if two means differ by more than noise: their intervals do not overlap. Nothing where one has none.
std::optional<bool> differ(const Estimate& a, const Estimate& b);

/// Layers of A and of B that share nodes of the model, directly or through each other. One side is empty for
/// layers that only the other has.
struct MatchedLayers {
  std::vector<std::string> a;
  std::vector<std::string> b;
  std::vector<std::string> kernels_a;
  std::vector<std::string> kernels_b;
  Estimate time_a;
  Estimate time_b;
  /// The differences between the two sides (layer_reasons()).
  std::vector<std::string> reasons;

  double change() const { return time_b.mean - time_a.mean; }
  bool certain() const { return differ(time_a, time_b).value_or(false); }
};

/// One bar of the waterfall: B minus A.
struct WaterfallBar {
  std::string name;
  double change = 0;  ///< ns
};

/// The speed of B relative to A.
struct DiffSpeedup {
  double ratio = 0;                               ///< A's time by B's
  std::optional<std::array<double, 2>> interval;  ///< 95 % at least; nothing of too few runs
  /// True for times of runs that nothing recorded, whose medians both traces hold; else they are those of the
  /// recorded iterations.
  bool undisturbed = false;

  /// True if it is more than noise; nothing if the runs cannot decide that.
  std::optional<bool> differs() const {
    if (!interval) return std::nullopt;
    return (*interval)[0] > 1 || (*interval)[1] < 1;
  }
};

struct TraceDiff {
  std::vector<MatchedLayers> layers;    ///< the largest change first
  std::vector<KernelExchange> kernels;  ///< kernels that replaced others, the largest change first
  Estimate iteration_a;
  Estimate iteration_b;
  std::optional<base::Trend> trend_a;  ///< of iterations, ns each: means hide it
  std::optional<base::Trend> trend_b;
  /// Layers, other device work, events of the device at the same time, and the rest of the iteration, in
  /// which the device did nothing: by cause, where that is known for both. Their sum is iteration_b -
  /// iteration_a. Empty where one of the two has no time.
  std::vector<WaterfallBar> waterfall;
  std::vector<std::string> notes;

  /// Times of runs that nothing recorded, in milliseconds; nothing if one of the two has none.
  std::optional<trace::RecordingCost> plain_a;
  std::optional<trace::RecordingCost> plain_b;

  /// True if both iterations have a time, so that they can be compared.
  bool timed() const { return iteration_a.mean > 0 && iteration_b.mean > 0; }
  /// Nothing where one of the two has no time.
  std::optional<DiffSpeedup> speedup() const;

  /// Values for the schema.
  std::optional<double> speedup_ratio() const;
  std::optional<std::array<double, 2>> speedup_interval() const;
  bool speedup_undisturbed() const;
};

/// A recording's description of itself; empty and nothing where it has none.
struct Recorded {
  std::string model;
  std::string device;
  std::string batch;
  std::optional<trace::RecordingCost> cost;

  static Recorded of(const trace::Trace& trace);
};

/// One recording: its layers, what was left out of its steps, and, where a GPU was recorded, what that waited
/// for.
struct DiffSide {
  LayerTable layers;
  std::optional<IterationIdle> idle = std::nullopt;
  std::vector<std::string> notes = {};
  Recorded recorded = {};
  /// There are times of layers, and none of iterations; the other side then counts by its layers, too.
  bool layers_only = false;
};

DiffSide diff_side(const trace::Trace& trace, const StepList& steps);

/// True if `side` is A where nobody says which is: the slower one, so that changes are gains.
bool is_first(const DiffSide& side, const DiffSide& other);

TraceDiff compare_traces(const DiffSide& a, const DiffSide& b);

Json to_json(const TraceDiff& diff);

}  // namespace hone::analysis
