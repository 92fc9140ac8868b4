// All results about one trace: the content of `hone analyze --json` and of the page. Each part is computed
// when it is first needed.
#pragma once

#include <optional>
#include <string>

#include "analysis/analyze.hpp"
#include "analysis/questions/critical_path.hpp"
#include "analysis/questions/idle_time.hpp"
#include "analysis/questions/kernel_metrics.hpp"
#include "analysis/questions/layer_threads.hpp"
#include "analysis/questions/layers.hpp"
#include "analysis/questions/what_if.hpp"

namespace hone::report {

struct LayerAnswers {
  analysis::LayerTable table;
  analysis::LayerThreadTable threads;
};

struct DependencyAnswers {
  analysis::CriticalPath path;
  analysis::WhatIfs what_if;
};

class Answers {
 public:
  /// `path` is shown to people. Usage error if the trace lacks the chosen steps.
  Answers(std::string path, trace::Trace trace, const analysis::AnalyzeOptions& options);

  const std::string& path() const { return path_; }
  const trace::Trace& trace() const { return trace_; }
  /// The time from which times shown to people are counted.
  trace::Time origin() const { return trace::extent(trace_).start; }
  const analysis::Analyses& analyses() const { return analyses_; }
  LayerAnswers layers() const;
  /// Metrics cover the whole trace, because they have no time.
  analysis::KernelMetricTable metrics() const { return analysis::tabulate_kernel_metrics(trace_); }
  /// Computed once.
  const DependencyAnswers& dependencies() const;
  analysis::IdleTime idle() const;

 private:
  /// The part of the trace in the window of the chosen steps; the whole trace if none were chosen.
  const trace::Trace& window() const { return chosen_ ? *chosen_ : trace_; }

  std::string path_;
  trace::Trace trace_;
  analysis::StepList steps_;
  analysis::Analyses analyses_;
  std::optional<trace::Trace> chosen_;
  mutable std::optional<DependencyAnswers> dependencies_;
};

/// Returns everything or, if `only` is not empty, only the named ones among the parts about time.
Json to_json(const Answers& answers, const std::vector<std::string>& only = {});

}  // namespace hone::report
