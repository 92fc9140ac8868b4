// Decides whether a series grows or falls.
#pragma once

#include <optional>
#include <vector>

#include "base/json.hpp"

namespace hone::base {

/// Change of a value from one place of the series to the next.
struct Trend {
  double slope = 0;
  double low = 0;  ///< 95 % confidence interval
  double high = 0;

  /// True if the interval leaves out 0.
  bool certain() const { return low > 0 || high < 0; }
};

/// The median of the slopes of all pairs, and its interval by Kendall's variance (Theil 1950, Sen 1968): a
/// few outliers do not move it. Nothing for fewer than five values, which show no trend. If there are more
/// than a thousand values, the means of a thousand blocks of them are taken. O(n^2) of at most that many.
std::optional<Trend> trend_of(const std::vector<double>& values);

Json to_json(const std::optional<Trend>& trend);

}  // namespace hone::base
