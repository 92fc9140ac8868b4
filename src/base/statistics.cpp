// See statistics.hpp.
#include "base/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"

namespace hone::base {
namespace {

constexpr double kNormal975 = 1.959963984540054;
constexpr Interval kUnbounded = {-std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::infinity()};

double sample_sd(std::span<const double> samples, double mean) {
  if (samples.size() < 2) return 0;
  double sum = 0;
  for (const double sample : samples) sum += (sample - mean) * (sample - mean);
  return std::sqrt(sum / static_cast<double>(samples.size() - 1));
}

/// Order statistics l and n+1-l (counted from 1), where l is the largest number with P(B(n, 1/2) < l) <= 2.5
/// %.
Interval median_interval(std::span<const double> sorted) {
  const size_t n = sorted.size();
  double probability = std::pow(0.5, static_cast<double>(n));
  double below = probability;
  size_t rank = 0;
  if (n > 1000) {
    // The terms underflow; the normal approximation is accurate enough here.
    rank =
        static_cast<size_t>(0.5 * (static_cast<double>(n) - kNormal975 * std::sqrt(static_cast<double>(n))));
  } else {
    while (below <= 0.025 && rank < n / 2) {
      ++rank;
      probability *= static_cast<double>(n - rank + 1) / static_cast<double>(rank);
      below += probability;
    }
  }
  if (rank == 0) return kUnbounded;
  return {sorted[rank - 1], sorted[n - rank]};
}

}  // namespace

double percentile_of_sorted(std::span<const double> sorted, double p) {
  if (sorted.empty() || p <= 0 || p > 1) fail_internal("a percentile of {} samples at {}", sorted.size(), p);
  // The small constant keeps 0.9 * 10 at 9 despite rounding.
  const double rank = std::ceil(p * static_cast<double>(sorted.size()) - 1e-9);
  return sorted[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

double median(std::vector<double> samples) {
  if (samples.empty()) fail_internal("the median of no samples");
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>((samples.size() - 1) / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

Summary summarize(std::vector<double> samples) {
  Summary summary;
  if (samples.empty()) return summary;
  std::sort(samples.begin(), samples.end());
  summary.n = static_cast<int64_t>(samples.size());
  summary.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
  summary.sd = sample_sd(samples, summary.mean);
  summary.min = samples.front();
  summary.max = samples.back();
  summary.p25 = percentile_of_sorted(samples, 0.25);
  summary.p50 = percentile_of_sorted(samples, 0.50);
  summary.p75 = percentile_of_sorted(samples, 0.75);
  summary.p90 = percentile_of_sorted(samples, 0.90);
  summary.p95 = percentile_of_sorted(samples, 0.95);
  summary.p99 = percentile_of_sorted(samples, 0.99);
  summary.p50_interval = median_interval(samples);
  return summary;
}

Interval share_interval(int64_t hits, int64_t n) {
  constexpr double kZ = 1.96;
  const auto count = static_cast<double>(n);
  const double share = static_cast<double>(hits) / count;
  const double middle = share + kZ * kZ / (2 * count);
  const double half = kZ * std::sqrt(share * (1 - share) / count + kZ * kZ / (4 * count * count));
  const double whole = 1 + kZ * kZ / count;
  return {(middle - half) / whole, (middle + half) / whole};
}

int64_t samples_for_percentile(double p) {
  if (p <= 0 || p >= 1) fail_internal("no sample count for the percentile {}", p);
  return static_cast<int64_t>(std::ceil(std::log(0.05) / std::log(p)));
}

double student_t_975(int64_t degrees_of_freedom) {
  constexpr std::array<double, 10> kSmall = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
                                             2.4469,  2.3646, 2.3060, 2.2622, 2.2281};
  if (degrees_of_freedom < 1) fail_internal("Student's t without degrees of freedom");
  if (degrees_of_freedom <= static_cast<int64_t>(kSmall.size())) {
    return kSmall[static_cast<size_t>(degrees_of_freedom - 1)];
  }
  // Cornish-Fisher expansion in 1/df (Abramowitz and Stegun 26.7.5).
  const double z = kNormal975;
  const double df = static_cast<double>(degrees_of_freedom);
  const double first = (z * z * z + z) / 4;
  const double second = (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / 96;
  const double third = (3 * std::pow(z, 7) + 19 * std::pow(z, 5) + 17 * z * z * z - 15 * z) / 384;
  return z + first / df + second / (df * df) + third / (df * df * df);
}

}  // namespace hone::base
