// Advice: what could be faster, the greatest possible gain, the evidence in the trace, and what to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/questions/gpu_usage.hpp"
#include "analysis/questions/memory_timeline.hpp"
#include "analysis/questions/operators.hpp"
#include "analysis/questions/steps.hpp"
#include "analysis/questions/transfers.hpp"

namespace hone::analysis {

/// A fact with its numbers, and the place in the trace that shows it.
struct Evidence {
  std::string text;
  Span place;  ///< empty if it does not concern a single place

  std::optional<Time> start() const { return length(place) > 0 ? std::optional(place.start) : std::nullopt; }
  std::optional<Time> end() const { return length(place) > 0 ? std::optional(place.end) : std::nullopt; }
};

struct Advice {
  std::string rule;
  std::string problem;  ///< one sentence
  std::vector<Evidence> evidence;
  std::string action;      ///< how to do it
  double gain = 0;         ///< upper bound of the saving in the window, ns; 0 if it is unknown
  std::string gain_basis;  ///< how the gain was computed
};

/// A rule that could not decide because the trace lacks data.
struct Unjudged {
  std::string rule;
  std::string reason;
};

struct AdviceList {
  Span window;
  int64_t rules = 0;           ///< number of rules that were evaluated
  std::vector<Advice> advice;  ///< largest gain first; may be empty
  std::vector<Unjudged> unjudged;
};

/// Input of the rules: the trace, and the analyses of one window.
struct Findings {
  const trace::Trace& trace;
  Span window;
  size_t first_step;  ///< index of the first analyzed step among those of the trace
  const StepBreakdown& steps;
  const GpuUsage& gpu;
  const OperatorTable& operators;  ///< of the window
  const TransferAnalysis& transfers;
  const MemoryTimeline& memory;
  const StepList& list;  ///< the analyzed steps
};

AdviceList advise(const Findings& findings);

Json to_json(const AdviceList& list);

}  // namespace hone::analysis
