// See warmup.hpp.
#include "bench/sweep/warmup.hpp"

#include <algorithm>
#include <cmath>

#include "base/statistics.hpp"

namespace hone::bench {
namespace {

constexpr double kTolerance = 0.02;
/// Standard error of a median of n normal samples: 1.2533 sd / sqrt(n); sd is 1.4826 times the median
/// absolute deviation (Rousseeuw and Croux 1993). The factor 1.4142 is for the difference of two medians, and
/// 2 for two standard errors.
constexpr double kNoiseFactor = 2 * 1.4142 * 1.2533 * 1.4826;

void add_deviations(std::span<const double> samples, double center, std::vector<double>* deviations) {
  for (const double sample : samples) deviations->push_back(std::abs(sample - center));
}

}  // namespace

void WarmupDetector::add(std::span<const double> latencies_ms, double seconds) {
  samples_.insert(samples_.end(), latencies_ms.begin(), latencies_ms.end());
  seconds_ += seconds;
}

bool WarmupDetector::stationary() const {
  const size_t window = std::max(kWindow, samples_.size() / 6);
  // The first run includes page faults and lazy initialization, so it never counts.
  if (samples_.size() < 2 * window + 1) return false;
  const std::span<const double> all(samples_);
  const auto last = all.last(window);
  const auto before = all.last(2 * window).first(window);
  const double median_last = base::median({last.begin(), last.end()});
  const double median_before = base::median({before.begin(), before.end()});
  std::vector<double> deviations;
  add_deviations(last, median_last, &deviations);
  add_deviations(before, median_before, &deviations);
  const double spread = base::median(std::move(deviations));
  const double noise = kNoiseFactor * spread / std::sqrt(static_cast<double>(window));
  return std::abs(median_last - median_before) <= std::max(kTolerance * median_last, noise);
}

bool WarmupDetector::done() const {
  if (seconds_ >= limits_.max_seconds) return true;
  return seconds_ >= limits_.min_seconds && stationary();
}

}  // namespace hone::bench
