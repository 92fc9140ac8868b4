// The figures of traces: layers as box plots, the parts of steps' time, the waterfall between two.
#pragma once

#include <optional>
#include <string>

#include "analysis/questions/layers.hpp"
#include "analysis/questions/steps.hpp"
#include "analysis/questions/trace_diff.hpp"
#include "report/plot/figure.hpp"

namespace hone::report {

/// How a trace is called: `name` in the names of files, `title` in figures.
struct TraceLabel {
  std::string name;
  std::string title;
  std::string machine;  ///< what it ran on; empty where not known
};

/// The label from the trace's own metadata; `name` if it has none.
TraceLabel label_trace(const trace::Trace& trace, const std::string& name);

/// The longest layers, at most 40, in the order in which they run. Null without layers.
std::optional<Figure> layers_figure(const TraceLabel& label, const analysis::LayerTable& table);
/// Up to 12 steps are lines, more are columns, of which there are at most 120: more steps are put together.
/// Null without announced steps.
std::optional<Figure> steps_figure(const TraceLabel& label, const analysis::StepBreakdown& steps);
/// The steps from one iteration of A to one of B.
Figure waterfall_figure(const TraceLabel& a, const TraceLabel& b, const analysis::TraceDiff& diff);

}  // namespace hone::report
