// Fields of the step time breakdown.
#pragma once

#include "analysis/questions/steps.hpp"
#include "analysis/schema/times.hpp"

namespace hone::base {

template <>
struct Description<analysis::CategoryCost> {
  using Cost = analysis::CategoryCost;
  static constexpr std::string_view kName = "CategoryCost";
  static constexpr auto kFields = std::tuple{
      Field{"mean_ns", &Cost::mean, "Mean time of a step spent on it; these add up to the mean step",
            unit::kNs, origin::kMeasured},
      Field{"median_ns", &Cost::p50, "Half of the steps spend at most this", unit::kNs, origin::kMeasured},
      Field{"p25_ns", &Cost::p25, "A quarter of the steps spends at most this", unit::kNs, origin::kMeasured},
      Field{"p75_ns", &Cost::p75, "Three quarters of the steps spend at most this", unit::kNs,
            origin::kMeasured},
      Field{"min_ns", &Cost::min, "The least that a step spends", unit::kNs, origin::kMeasured},
      Field{"max_ns", &Cost::max, "The most that a step spends", unit::kNs, origin::kMeasured},
      Field{"sd_ns", &Cost::sd, "Standard deviation over the steps", unit::kNs, origin::kMeasured},
      Field{"share", &Cost::share, "Mean time by the mean length of a step", unit::kShare,
            origin::kMeasured}};
};

template <>
struct Description<analysis::StepCost> {
  using Cost = analysis::StepCost;
  static constexpr std::string_view kName = "Step";
  static constexpr auto kFields = std::tuple{
      Field{"name", [](const Cost& cost) -> const std::string& { return cost.step.name; },
            "Name of the step"},
      Field{"start_ns", [](const Cost& cost) { return cost.step.span.start; },
            "End of the work of the step before, or where it was announced", unit::kNs, origin::kMeasured},
      Field{"end_ns", [](const Cost& cost) { return cost.step.span.end; },
            "End of the last work that it launched", unit::kNs, origin::kMeasured},
      Field{"host_start_ns", [](const Cost& cost) { return cost.step.host.start; },
            "As the host announced it", unit::kNs, origin::kMeasured},
      Field{"host_end_ns", [](const Cost& cost) { return cost.step.host.end; }, "As the host announced it",
            unit::kNs, origin::kMeasured},
      Field{"device_events", [](const Cost& cost) { return cost.step.device_events; },
            "Kernels, copies and sets that it launched", unit::kCount, origin::kMeasured},
      Field{
          "costs", &Cost::named_costs,
          "Its time by category, which add up to it; where several go on, the first one in the order of the "
          "list has it",
          unit::kNs, origin::kMeasured},
      Field{"profiler_overhead_ns", [](const Cost& cost) { return cost.overhead; },
            "Time that the profiler itself took, part of the above", unit::kNs, origin::kMeasured}};
};

template <>
struct Description<analysis::StepBreakdown> {
  using Breakdown = analysis::StepBreakdown;
  static constexpr std::string_view kName = "StepBreakdown";
  static constexpr auto kFields = std::tuple{
      Field{"announced", [](const Breakdown& b) { return b.announced; },
            "True if the program announced steps; else the whole trace is one"},
      Field{"step", [](const Breakdown& b) { return b.total; }, "Length of a step", unit::kNs,
            origin::kMeasured},
      Field{"trend_ns", [](const Breakdown& b) { return b.trend; },
            "Growth of steps, ns from one to the next; negative when they grow shorter", unit::kNs,
            origin::kEstimated},
      Field{"categories", &Breakdown::named_categories, "Categories of time in steps"},
      Field{"steps", [](const Breakdown& b) -> const std::vector<analysis::StepCost>& { return b.steps; },
            "Every step"},
      Field{"notes", [](const Breakdown& b) -> const std::vector<std::string>& { return b.notes; },
            "Rows that were left out, and why"}};
};

}  // namespace hone::base
