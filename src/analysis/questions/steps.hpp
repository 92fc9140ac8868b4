// Step time breakdown: how each iteration spent its time. The categories, their priority, and the rule that a
// step lasts until the work it launched has ended are those of TensorBoard's profiler plugin.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/intervals.hpp"
#include "base/described.hpp"
#include "base/statistics.hpp"
#include "base/trend.hpp"

namespace hone::analysis {

/// In order of priority: if several happen at the same time, the time belongs to the first.
enum class StepCategory : uint8_t {
  kKernel,
  kMemcpy,
  kMemset,
  kCommunication,
  kRuntime,
  kDataLoading,
  kCpu,   ///< operators, steps of an engine on the CPU, host callbacks
  kOther  ///< time in which nothing was recorded
};
constexpr size_t kStepCategories = 8;
std::string_view category_name(StepCategory category);

struct Step {
  std::string name;
  Span host;                  ///< as announced
  Span span;                  ///< from the end of the previous step's work to the end of its own work
  int64_t device_events = 0;  ///< launched in it
};

struct StepList {
  std::vector<Step> steps;         ///< in order of time; spans do not overlap
  bool announced = false;          ///< false: the whole trace is one step
  std::vector<std::string> notes;  ///< what was left out, and why
};

/// Returns the steps of the thread that announced the most. Launched work that ends after its step prolongs
/// the step; the next step starts then:
///     start_i = max(end_(i-1), host_start_i),  end_i = max(host_end_i, end of the device events launched in
///     i)
/// All launches count, of any API and thread, inside CUDA graphs too. Steps at the end whose device events
/// were not recorded (none, or fewer than 80 % of those of the previous step) are left out.
StepList find_steps(const trace::Trace& trace);

/// Selects the steps from `first` up to, but without, `last`, counted from 0. Usage error if there are none.
StepList select_steps(StepList list, size_t first, size_t last);

/// The window from the start of the first step to the end of the last.
Span window_of(const StepList& list);

/// One category over all steps, ns.
struct CategoryCost : base::Summary {
  double share = 0;  ///< mean share of a step, 0 to 1
};

struct StepCost {
  Step step;
  std::array<Time, kStepCategories> costs{};  ///< ns; their sum is exactly the length of the step's span
  Time overhead = 0;                          ///< of the profiler itself, ns; included in the costs above

  /// Names such as "data_loading_ns".
  base::Named<Time> named_costs() const;
};

struct StepBreakdown {
  bool announced = false;
  std::vector<StepCost> steps;
  base::Summary total;                                    ///< lengths, ns
  std::optional<base::Trend> trend;                       ///< of lengths, ns per step
  std::array<base::Summary, kStepCategories> categories;  ///< ns; the means add up to the mean total
  std::vector<std::string> notes;

  /// Mean share of a step, 0 to 1.
  double share(StepCategory category) const;
  /// Names such as "data_loading".
  base::Named<CategoryCost> named_categories() const;
};

StepBreakdown break_down_steps(const trace::Trace& trace, const StepList& list);

Json to_json(const StepBreakdown& breakdown);

}  // namespace hone::analysis
