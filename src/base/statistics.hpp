// Descriptive statistics of samples: percentiles, spread, and intervals without assumptions about the
// distribution.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace hone::base {

/// Nearest-rank percentile: the smallest sample that is not exceeded by at least a share `p` of all samples.
/// `sorted` must be ascending and not empty; p in (0, 1].
double percentile_of_sorted(std::span<const double> sorted, double p);

/// The nearest-rank median of samples in any order; there must be at least one.
double median(std::vector<double> samples);

struct Interval {
  double low = 0;
  double high = 0;

  bool bounded() const { return std::isfinite(low) && std::isfinite(high); }
};

/// All in the unit of the samples; zeros if there are no samples.
struct Summary {
  int64_t n = 0;
  double mean = 0;
  double sd = 0;  ///< of the sample (divided by n - 1); 0 for fewer than two samples
  double min = 0;
  double max = 0;
  double p25 = 0;
  double p50 = 0;
  double p75 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  /// 95 % confidence interval of the median from order statistics (binomial; David and Nagaraja, Order
  /// Statistics, 7.1). Both ends are infinite for fewer than six samples, because even their smallest and
  /// largest contain the median with a lower probability.
  Interval p50_interval;
};

Summary summarize(std::vector<double> samples);

/// 95 % interval of a share, given `hits` in n tries (Wilson 1927); n must be at least 1.
Interval share_interval(int64_t hits, int64_t n);

/// The least number of samples whose largest is at or above the percentile p with 95 % confidence (1 - p^n >=
/// 0.95; Wilks 1941): 5 for p50, 29 for p90, 59 for p95, 299 for p99.
int64_t samples_for_percentile(double p);

/// 97.5 % quantile of Student's t distribution, for at least one degree of freedom.
double student_t_975(int64_t degrees_of_freedom);

}  // namespace hone::base
