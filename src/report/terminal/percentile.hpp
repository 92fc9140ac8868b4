// Percentiles of latencies that the number of samples supports.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "base/statistics.hpp"

namespace hone::report {

/// The nearest-rank percentile at `percent`, between 0 and 100; nothing if there are too few samples for it.
inline std::optional<double> told_percentile(std::vector<double> samples, double percent) {
  const double share = percent / 100;
  if (static_cast<int64_t>(samples.size()) < base::samples_for_percentile(share)) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  return base::percentile_of_sorted(samples, share);
}

}  // namespace hone::report
