// See analyze.hpp.
#include "analysis/analyze.hpp"

namespace hone::analysis {
namespace {

/// Windows are half-open, so the whole trace ends one after its last event.
Span whole(const trace::Trace& trace) {
  const Span span = trace::extent(trace);
  return {span.start, span.end + 1};
}

}  // namespace

Analyses analyze(const trace::Trace& trace, const AnalyzeOptions& options) {
  StepList list = find_steps(trace);
  if (options.chooses_steps()) list = select_steps(std::move(list), options.first_step, options.last_step);
  const Span window = window_of(list);
  Analyses result;
  // Tables show all there is, unless steps were chosen; figures over time are of the steps.
  result.window = options.chooses_steps() ? window : whole(trace);
  result.summary = summarize_activities(trace, result.window, options.summary);
  result.steps = break_down_steps(trace, list);
  result.gpu = analyze_gpu_usage(trace, window);
  result.operators = tabulate_operators(trace, result.window, options.by_input_shapes);
  result.transfers = analyze_transfers(trace, list);
  result.memory = follow_memory(trace, result.window);
  result.advice =
      advise({trace, window, result.steps, result.gpu, result.operators, result.transfers, result.memory});
  return result;
}

}  // namespace hone::analysis
