// Explains why one recording of a model is faster than another: matches layers by their nodes in the model,
// however they were fused, and computes a waterfall from one iteration to the other whose bars add up.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/questions/iteration_idle.hpp"
#include "analysis/questions/kernel_exchanges.hpp"
#include "analysis/questions/layers.hpp"
#include "trace/recording_cost.hpp"

namespace hone::analysis {

/// A mean over iterations, ns, with the half-width of its 95 % confidence interval (Student's t). With a
/// single iteration there is no interval.
struct Estimate {
  double mean = 0;
  std::optional<double> half_width = 0;
};

/// True if two means differ significantly, so that their intervals do not overlap. Nothing if one of them has
/// no interval.
std::optional<bool> differ(const Estimate& a, const Estimate& b);

/// Layers of A and of B that share nodes of the model, directly or transitively. One side is empty for layers
/// that only the other side has.
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
  double ratio = 0;                               ///< A's time divided by B's
  std::optional<std::array<double, 2>> interval;  ///< at least 95 %; nothing if there are too few runs
  /// True if the times are those of runs without recording, whose medians both traces contain; else they are
  /// those of the recorded iterations.
  bool undisturbed = false;

  /// True if the difference is significant; nothing if there are too few runs to decide.
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
  std::optional<base::Trend> trend_a;  ///< of iterations, ns each; means hide trends
  std::optional<base::Trend> trend_b;
  /// Bars: layers, other device work, overlap of device events, and the rest of the iteration, in which the
  /// device was idle, divided by cause if the causes are known for both. Their sum is iteration_b -
  /// iteration_a. Empty if one of the two has no time.
  std::vector<WaterfallBar> waterfall;
  std::vector<std::string> notes;

  /// Times of runs without recording, in milliseconds; nothing if one of the two traces has none.
  std::optional<trace::RecordingCost> plain_a;
  std::optional<trace::RecordingCost> plain_b;

  /// True if nearly nothing of A has a name that B has, too, so that they seem to be of different programs:
  /// there is no speedup then, and `notes` begins with the reason.
  bool unrelated = false;

  /// True if both iterations have a time, so that they can be compared.
  bool timed() const { return iteration_a.mean > 0 && iteration_b.mean > 0; }
  /// Nothing if one of the two has no time, or if they are unrelated.
  std::optional<DiffSpeedup> speedup() const;
  /// True if the waterfall, which is of recorded iterations, says something else than the speedup, which is
  /// of runs without recording: the other direction, or another factor. `notes` begins with the doubt then.
  bool contradictory() const;

  /// The parts of speedup() for the schema.
  std::optional<double> speedup_ratio() const;
  std::optional<std::array<double, 2>> speedup_interval() const;
  bool speedup_undisturbed() const;
};

/// The metadata of a recording; members are empty if the recording lacks them.
struct Recorded {
  std::string model;
  std::string device;
  std::string batch;
  std::optional<trace::RecordingCost> cost;

  static Recorded of(const trace::Trace& trace);
};

/// One recording: its layers, what was left out of its steps, and the causes of idle time if a GPU was
/// recorded.
struct DiffSide {
  LayerTable layers;
  std::optional<IterationIdle> idle = std::nullopt;
  std::vector<std::string> notes = {};
  Recorded recorded = {};
  /// Names of its kernels, ranges and operators.
  std::set<std::string> names = {};
  /// True if there are times of layers but none of iterations; the other side is then also represented by its
  /// layers.
  bool layers_only = false;
};

DiffSide diff_side(const trace::Trace& trace, const StepList& steps);

/// True if `side` becomes A when the user did not choose: the slower one, so that changes are gains.
bool is_first(const DiffSide& side, const DiffSide& other);

TraceDiff compare_traces(const DiffSide& a, const DiffSide& b);

/// A doubt about a side of a contradictory diff whose recorded iterations took longer than its plain runs.
std::optional<trace::Doubt> iteration_doubt(const Estimate& recorded, const trace::RecordingCost& plain);

Json to_json(const TraceDiff& diff);

}  // namespace hone::analysis
