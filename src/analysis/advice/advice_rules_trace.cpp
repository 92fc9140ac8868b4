// Rules about the trace itself: whether it shows the steady state of the program, or mostly the profiler and
// a warm-up.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/advice/advice_rules.hpp"
#include "base/units.hpp"

namespace hone::analysis {
namespace {

using base::share_text;
using base::time_text;

constexpr double kMuchOverhead = 0.05;
constexpr double kOutlier = 1.5;
constexpr size_t kStepsToCompare = 4;

Ruling profiler_overhead(const RuleContext& context) {
  Time overhead = 0;
  Time total = 0;
  const StepCost* worst = nullptr;
  for (const StepCost& step : context.steps.steps) {
    overhead += step.overhead;
    total += length(step.step.span);
    if (worst == nullptr || step.overhead > worst->overhead) worst = &step;
  }
  const double share = total > 0 ? static_cast<double>(overhead) / static_cast<double>(total) : 0;
  if (share < kMuchOverhead) return {};
  return {
      Advice{
          "",
          "Much of the activity in the trace is the profiler's own work.",
          {{fmt::format("profiling took {}, {} of the steps", time_text(static_cast<double>(overhead)),
                        share_text(share)),
            {}},
           {fmt::format("most in {}: {}", worst->step.name, time_text(static_cast<double>(worst->overhead))),
            worst->step.span}},
          "Record fewer things (no stacks, shapes or memory), longer windows, and a warm-up before; "
          "compare with a run that is not profiled.",
          0,
          "this is not the program's time"},
      {}};
}

Ruling warm_up(const RuleContext& context) {
  if (!context.steps.announced || context.steps.steps.size() < kStepsToCompare) return {};
  std::vector<double> others;
  for (size_t i = 1; i < context.steps.steps.size(); ++i)
    others.push_back(static_cast<double>(length(context.steps.steps[i].step.span)));
  const Step& first = context.steps.steps.front().step;
  const auto duration = static_cast<double>(length(first.span));
  const double usual = base::median(others);
  if (duration < kOutlier * usual || duration <= *std::max_element(others.begin(), others.end())) return {};
  return {Advice{"",
                 "The first step is a warm-up and distorts averages.",
                 {{fmt::format("{} took {}, the median of the others is {}", first.name, time_text(duration),
                               time_text(usual)),
                   first.span}},
                 fmt::format("Leave it out (--steps {}:), and record after a warm-up of a few steps.",
                             context.first_step + 1),
                 0,
                 "this is not what steps take once the program runs"},
          {}};
}

constexpr std::array<Rule, 2> kRules = {
    {{"profiler-overhead", profiler_overhead, true, true}, {"warm-up", warm_up, true, true}}};

}  // namespace

std::span<const Rule> trace_rules() { return kRules; }

}  // namespace hone::analysis
