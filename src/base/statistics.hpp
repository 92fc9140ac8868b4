// Descriptive statistics of samples: percentiles, spread, and intervals that assume no distribution.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace hone::base {

/// Nearest-rank percentile: the smallest sample that at least a share `p` of all samples do not exceed.
/// `sorted` ascending and not empty; p in (0, 1].
double percentile_of_sorted(std::span<const double> sorted, double p);

/// The nearest-rank median of samples in any order; not empty.
double median(std::vector<double> samples);

struct Interval {
  double low = 0;
  double high = 0;

  bool bounded() const { return std::isfinite(low) && std::isfinite(high); }
};

/// All in the unit of the samples; zeros when there are none.
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
  /// Statistics, 7.1). Unbounded, both ends infinite, below six samples: even the smallest and the largest
  /// hold the median between them less surely than that.
  Interval p50_interval;
};

Summary summarize(std::vector<double> samples);

/// 95 % interval of a share of which `hits` of n tries were seen (Wilson 1927); n at least 1.
Interval share_interval(int64_t hits, int64_t n);

/// Fewest samples whose largest one lies, with 95 % confidence, at or above the percentile p
/// (1 - p^n >= 0.95; Wilks 1941): 5 for p50, 29 for p90, 59 for p95, 299 for p99.
int64_t samples_for_percentile(double p);

/// 97.5 % quantile of Student's t distribution; at least one degree of freedom.
double student_t_975(int64_t degrees_of_freedom);

}  // namespace hone::base
