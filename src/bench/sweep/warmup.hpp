// Detects the end of the warm-up: a configuration is warm when its latency neither falls nor rises any more,
// not after a fixed number of runs.
#pragma once

#include <span>
#include <vector>

namespace hone::bench {

struct WarmupLimits {
  double min_seconds = 0;  ///< --warmup
  double max_seconds = 5;  ///< the warm-up ends at this time at the latest; the run is then marked
};

class WarmupDetector {
 public:
  explicit WarmupDetector(WarmupLimits limits) : limits_(limits) {}

  void add(std::span<const double> latencies_ms, double seconds);
  /// True if the medians of the last two windows differ by less than the tolerance, which is 2 % or, if
  /// larger, the noise of such medians. Both windows have the same length, at least kWindow samples and a
  /// sixth of all samples.
  bool stationary() const;
  /// True if the latency is stationary after the minimum time, or if the maximum time is over.
  bool done() const;

  size_t runs() const { return samples_.size(); }
  double seconds() const { return seconds_; }

  static constexpr size_t kWindow = 3;

 private:
  WarmupLimits limits_;
  std::vector<double> samples_;
  double seconds_ = 0;
};

}  // namespace hone::bench
