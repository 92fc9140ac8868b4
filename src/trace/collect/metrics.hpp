// Metrics of kernels by the names that nvprof had for them, and what today's GPUs count in their place.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace hone::trace {

struct MetricInfo {
  std::string_view name;        ///< nvprof's
  std::string_view expression;  ///< of today's metrics (CUPTI 13, Nsight Compute); see parse_formula()
  std::string_view unit;        ///< "%", "B", "B/s"; empty for counts and ratios
  std::string_view description;
};

/// All that hone knows, by name.
std::span<const MetricInfo> metric_table();

struct MetricTerm {
  double factor = 1;
  std::string metric;
};

/// A sum, and what it is divided by when that is not empty.
struct MetricFormula {
  std::vector<MetricTerm> sum;
  std::vector<MetricTerm> divisor;
};

/// Parses "a + 2 * b" or "(a + b) / (c + d)". Bad input when it is neither.
MetricFormula parse_formula(std::string_view text);

/// A metric that the user asked for.
struct WantedMetric {
  std::string name;  ///< as they wrote it
  std::string unit;
  MetricFormula formula;
};

/// Names of nvprof and of today ("sm__warps_active.avg.pct_of_peak_sustained_active"), each once. Usage error
/// with the nearest name for one that is neither.
std::vector<WantedMetric> want_metrics(const std::vector<std::string>& names);

/// The metrics of today that these need, each once.
std::vector<std::string> hardware_metrics(const std::vector<WantedMetric>& wanted);

}  // namespace hone::trace
