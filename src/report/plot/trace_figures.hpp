// The figures of traces: layers as box plots, the parts of the time of steps, and the waterfall between two
// traces.
#pragma once

#include <optional>
#include <string>

#include "analysis/questions/layers.hpp"
#include "analysis/questions/steps.hpp"
#include "analysis/questions/trace_diff.hpp"
#include "report/plot/figure.hpp"

namespace hone::report {

/// The names of a trace: `name` in file names, `title` in figures.
struct TraceLabel {
  std::string name;
  std::string title;
  std::string machine;  ///< the device on which it ran; empty if unknown
};

/// The label from the trace's metadata; `name` if it has none.
TraceLabel label_trace(const trace::Trace& trace, const std::string& name);

/// Shows the longest layers, at most 40, in the order in which they run. Null without layers.
std::optional<Figure> layers_figure(const TraceLabel& label, const analysis::LayerTable& table);
/// Up to 12 steps are rows. More steps are columns, at most 120; if there are more, several steps share a
/// column. Null if no steps were announced.
std::optional<Figure> steps_figure(const TraceLabel& label, const analysis::StepBreakdown& steps);
/// Shows the differences that lead from an iteration of A to one of B.
Figure waterfall_figure(const TraceLabel& a, const TraceLabel& b, const analysis::TraceDiff& diff);

}  // namespace hone::report
