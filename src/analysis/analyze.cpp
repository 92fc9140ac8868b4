// See analyze.hpp.
#include "analysis/analyze.hpp"

#include <algorithm>

namespace hone::analysis {
namespace {

/// Windows are half-open, so a window over the whole trace ends 1 ns after its last event.
Span whole(const trace::Trace& trace) {
  const Span span = trace::extent(trace);
  return {span.start, span.end + 1};
}

/// Extends the window to allocations before the first event and after the last.
Span with_allocations(Span window, const trace::Trace& trace) {
  for (const trace::Allocation& allocation : trace.allocations)
    window = {std::min(window.start, allocation.time), std::max(window.end, allocation.time + 1)};
  return window;
}

}  // namespace

Analyses analyze(const trace::Trace& trace, const AnalyzeOptions& options) {
  StepList list = find_steps(trace);
  if (options.chooses_steps()) list = select_steps(std::move(list), options.first_step, options.last_step);
  const Span window = window_of(list);
  Analyses result;
  // Tables cover the whole trace unless the user chose steps; figures over time cover the steps.
  result.window = options.chooses_steps() ? window : whole(trace);
  result.summary = summarize_activities(trace, result.window, options.summary);
  result.steps = break_down_steps(trace, list);
  result.gpu = analyze_gpu_usage(trace, window);
  result.operators = tabulate_operators(trace, result.window, options.by_input_shapes);
  result.transfers = analyze_transfers(trace, list);
  result.memory =
      follow_memory(trace, options.chooses_steps() ? window : with_allocations(result.window, trace));
  const bool tabulated = options.chooses_steps() || !list.announced;
  const OperatorTable in_steps = tabulated ? result.operators : tabulate_operators(trace, window, false);
  result.advice = advise({trace, window, options.chooses_steps() ? options.first_step : 0, result.steps,
                          result.gpu, in_steps, result.transfers, result.memory, list});
  return result;
}

}  // namespace hone::analysis
