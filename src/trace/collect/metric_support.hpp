// Finds out from CUPTI which metrics a chip knows.
#pragma once

#include <string>
#include <vector>

#include "trace/collect/metrics.hpp"

namespace hone::trace {

struct MetricSupport {
  std::string chip;         ///< "GH100"; empty when nobody could be asked
  std::string problem;      ///< the reason why nothing is known, as the end of a sentence
  std::vector<bool> known;  ///< for each wanted metric, in their order; empty if CUPTI could not be asked
};

/// Looks up metrics for a chip by its name, or for the first GPU of this machine if the name is empty. A
/// metric is known if the chip knows all the hardware metrics in its formula. Throws no errors: `problem`
/// says what is missing.
MetricSupport metric_support(const std::string& chip, const std::vector<WantedMetric>& metrics);

}  // namespace hone::trace
