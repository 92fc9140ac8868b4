// Runs all analyses on one trace and one choice of steps.
#pragma once

#include <limits>

#include "analysis/advice/advice.hpp"
#include "analysis/questions/activity_summary.hpp"

namespace hone::analysis {

struct AnalyzeOptions {
  size_t first_step = 0;                                  ///< counted from 0
  size_t last_step = std::numeric_limits<size_t>::max();  ///< the first step that is left out
  SummaryOptions summary;
  bool by_input_shapes = false;  ///< separates operators by their input shapes

  bool chooses_steps() const { return first_step > 0 || last_step != std::numeric_limits<size_t>::max(); }
};

struct Analyses {
  Span window;  ///< of the chosen steps; the whole trace if none were chosen
  ActivitySummary summary;
  StepBreakdown steps;
  GpuUsage gpu;
  OperatorTable operators;
  TransferAnalysis transfers;
  MemoryTimeline memory;
  AdviceList advice;
};

/// Usage error if the trace lacks the chosen steps.
Analyses analyze(const trace::Trace& trace, const AnalyzeOptions& options = {});

}  // namespace hone::analysis
