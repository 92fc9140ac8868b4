// All that hone says of one trace: what `hone analyze --json` prints and what the page shows. Each part is
// computed when it is asked for.
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
  /// `path`: the trace's, for people. Usage error when the chosen steps are not there.
  Answers(std::string path, trace::Trace trace, const analysis::AnalyzeOptions& options);

  const std::string& path() const { return path_; }
  const trace::Trace& trace() const { return trace_; }
  /// That places in time are counted from, for people.
  trace::Time origin() const { return trace::extent(trace_).start; }
  const analysis::Analyses& analyses() const { return analyses_; }
  LayerAnswers layers() const;
  /// Metrics of the whole trace, since they have no time.
  analysis::KernelMetricTable metrics() const { return analysis::tabulate_kernel_metrics(trace_); }
  /// Computed once.
  const DependencyAnswers& dependencies() const;
  analysis::IdleTime idle() const;

 private:
  /// The trace in the window of the chosen steps; all of it where none were chosen.
  const trace::Trace& window() const { return chosen_ ? *chosen_ : trace_; }

  std::string path_;
  trace::Trace trace_;
  analysis::StepList steps_;
  analysis::Analyses analyses_;
  std::optional<trace::Trace> chosen_;
  mutable std::optional<DependencyAnswers> dependencies_;
};

/// Everything; or, among the parts that are about time, only those named.
Json to_json(const Answers& answers, const std::vector<std::string>& only = {});

}  // namespace hone::report
