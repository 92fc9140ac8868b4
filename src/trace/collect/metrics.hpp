// Metrics of kernels by their nvprof names, and the metrics of current GPUs that replace them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace hone::trace {

struct MetricInfo {
  std::string_view name;  ///< the name in nvprof
  std::string_view
      expression;         ///< formula of current metrics (CUPTI 13, Nsight Compute); see parse_formula()
  std::string_view unit;  ///< "%", "B", "B/s"; empty for counts and ratios
  std::string_view description;
};

/// All metrics that hone knows, sorted by name.
std::span<const MetricInfo> metric_table();

struct MetricTerm {
  double factor = 1;
  std::string metric;
};

/// A sum, and its divisor; an empty divisor means 1.
struct MetricFormula {
  std::vector<MetricTerm> sum;
  std::vector<MetricTerm> divisor;
};

/// Parses "a + 2 * b" or "(a + b) / (c + d)". Throws bad input if the text has neither form.
MetricFormula parse_formula(std::string_view text);

/// A metric that the user asked for.
struct WantedMetric {
  std::string name;  ///< the name as the user wrote it
  std::string unit;
  MetricFormula formula;
};

/// Accepts names of nvprof and current names ("sm__warps_active.avg.pct_of_peak_sustained_active"), and keeps
/// each once. Throws a usage error with the nearest name if a name is neither.
std::vector<WantedMetric> want_metrics(const std::vector<std::string>& names);

/// The current hardware metrics that these need, each once.
std::vector<std::string> hardware_metrics(const std::vector<WantedMetric>& wanted);

}  // namespace hone::trace
