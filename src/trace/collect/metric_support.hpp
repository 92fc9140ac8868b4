// Which metrics a chip knows, as CUPTI says.
#pragma once

#include <string>
#include <vector>

#include "trace/collect/metrics.hpp"

namespace hone::trace {

struct MetricSupport {
  std::string chip;         ///< "GH100"; empty when nobody could be asked
  std::string problem;      ///< why, as a sentence's end
  std::vector<bool> known;  ///< of the wanted metrics, in their order; empty when nobody could be asked
};

/// Looks metrics up for a chip by its name, or for the first GPU of this machine when that is empty. A metric
/// is known when the chip knows all that its formula needs. No errors: what is missing is said in `problem`.
MetricSupport metric_support(const std::string& chip, const std::vector<WantedMetric>& metrics);

}  // namespace hone::trace
