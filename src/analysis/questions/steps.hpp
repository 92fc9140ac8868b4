// Step time breakdown: what each iteration's time was spent on. Categories and their order of priority are
// those of TensorBoard's profiler plugin, as is the rule that a step lasts until the work it launched is
// done.
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

/// In order of priority: time in which several go on belongs to the first.
enum class StepCategory : uint8_t {
  kKernel,
  kMemcpy,
  kMemset,
  kCommunication,
  kRuntime,
  kDataLoading,
  kCpu,   ///< operators, steps of an engine on the CPU, host callbacks
  kOther  ///< nothing that was recorded
};
constexpr size_t kStepCategories = 8;
std::string_view category_name(StepCategory category);

struct Step {
  std::string name;
  Span host;                  ///< as announced
  Span span;                  ///< from the end of the step before's work to the end of its own
  int64_t device_events = 0;  ///< launched in it
};

struct StepList {
  std::vector<Step> steps;         ///< in order of time; spans do not overlap
  bool announced = false;          ///< false: the whole trace is one step
  std::vector<std::string> notes;  ///< what was left out, and why
};

/// The steps of the thread that announced most of them. Work that a step launched and that ends after it
/// prolongs it; the next step starts then:
///     start_i = max(end_(i-1), host_start_i),  end_i = max(host_end_i, end of the device events launched in
///     i)
/// All launches count, by whichever API and thread, inside CUDA graphs too. Steps at the end whose device
/// events were not recorded (none, or fewer than 80 % of the step before) are left out.
StepList find_steps(const trace::Trace& trace);

/// Steps first up to, but without, last; counted from 0. Usage error when there are none.
StepList select_steps(StepList list, size_t first, size_t last);

/// The window from the start of the first step to the end of the last.
Span window_of(const StepList& list);

/// A category over all steps, ns.
struct CategoryCost : base::Summary {
  double share = 0;  ///< mean share of a step, 0 to 1
};

struct StepCost {
  Step step;
  std::array<Time, kStepCategories> costs{};  ///< ns; their sum is exactly the length of the step's span
  Time overhead = 0;  ///< of the profiler itself, ns: part of the above, whatever the category

  /// "data_loading_ns" and its like.
  base::Named<Time> named_costs() const;
};

struct StepBreakdown {
  bool announced = false;
  std::vector<StepCost> steps;
  base::Summary total;                                    ///< lengths, ns
  std::optional<base::Trend> trend;                       ///< of lengths, ns a step
  std::array<base::Summary, kStepCategories> categories;  ///< ns; means add up to the mean total
  std::vector<std::string> notes;

  /// Mean share of a step, 0 to 1.
  double share(StepCategory category) const;
  /// By category: "data_loading".
  base::Named<CategoryCost> named_categories() const;
};

StepBreakdown break_down_steps(const trace::Trace& trace, const StepList& list);

Json to_json(const StepBreakdown& breakdown);

}  // namespace hone::analysis
