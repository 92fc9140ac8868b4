// Advice: what could be faster, by how much at best, where that shows in the trace, and how to do it.
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

/// A fact with its numbers, and where in the trace it shows.
struct Evidence {
  std::string text;
  Span place;  ///< empty when it is no one place

  std::optional<Time> start() const { return length(place) > 0 ? std::optional(place.start) : std::nullopt; }
  std::optional<Time> end() const { return length(place) > 0 ? std::optional(place.end) : std::nullopt; }
};

struct Advice {
  std::string rule;
  std::string problem;  ///< one sentence
  std::vector<Evidence> evidence;
  std::string action;      ///< how to do it
  double gain = 0;         ///< ns of the window that could be saved at best; 0 when that cannot be told
  std::string gain_basis;  ///< what the gain rests on
};

/// A rule that found too little in the trace to say yes or no.
struct Unjudged {
  std::string rule;
  std::string reason;
};

struct AdviceList {
  Span window;
  int64_t rules = 0;           ///< that were asked
  std::vector<Advice> advice;  ///< largest gain first; none is a valid answer
  std::vector<Unjudged> unjudged;
};

/// Input of the rules: the trace, and the analyses of the same window.
struct Findings {
  const trace::Trace& trace;
  Span window;
  size_t first_step;  ///< of the trace's, the number of the first that is looked at
  const StepBreakdown& steps;
  const GpuUsage& gpu;
  const OperatorTable& operators;  ///< of the window
  const TransferAnalysis& transfers;
  const MemoryTimeline& memory;
  const StepList& list;  ///< of the steps that are looked at
};

AdviceList advise(const Findings& findings);

Json to_json(const AdviceList& list);

}  // namespace hone::analysis
