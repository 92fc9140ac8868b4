// Decides whether a series grows or falls.
#pragma once

#include <optional>
#include <vector>

#include "base/json.hpp"

namespace hone::base {

/// Change of the value per step of the series.
struct Trend {
  double slope = 0;
  double low = 0;  ///< 95 % confidence interval
  double high = 0;

  /// True if the interval excludes 0.
  bool certain() const { return low > 0 || high < 0; }
};

/// The median of the slopes of all pairs, with an interval from Kendall's variance (Theil 1950, Sen 1968); it
/// is robust against a few outliers. Nothing for fewer than five values, which show no trend. If there are
/// more than a thousand values, they are averaged in a thousand blocks. O(n^2) for at most this many.
std::optional<Trend> trend_of(const std::vector<double>& values);

Json to_json(const std::optional<Trend>& trend);

}  // namespace hone::base
