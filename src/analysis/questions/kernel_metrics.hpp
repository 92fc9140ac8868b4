// Metrics of kernels, summarized over all launches of a kernel as in nvprof.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace hone::analysis {

struct KernelMetricRow {
  int32_t device = 0;
  std::string kernel;  ///< with its parameters, as recorded
  std::string metric;
  std::string unit;         ///< "%", "B", "B/s"; empty for counts and ratios
  int64_t invocations = 0;  ///< launches that have a value
  double min = 0;
  double max = 0;
  double mean = 0;
};

struct KernelMetricTable {
  int64_t launches = 0;               ///< number of launches that were measured
  std::vector<KernelMetricRow> rows;  ///< in the order in which kernels and metrics first appeared
};

KernelMetricTable tabulate_kernel_metrics(const trace::Trace& trace);

}  // namespace hone::analysis
