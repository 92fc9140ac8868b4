// Warm-up detection: a configuration is warm when its latency has stopped falling or rising, not after a
// fixed number of runs.
#pragma once

#include <span>
#include <vector>

namespace hone::bench {

struct WarmupLimits {
  double min_seconds = 0;  ///< --warmup
  double max_seconds = 5;  ///< give up waiting here; the run is then marked
};

class WarmupDetector {
 public:
  explicit WarmupDetector(WarmupLimits limits) : limits_(limits) {}

  void add(std::span<const double> latencies_ms, double seconds);
  /// The last two windows of equal length, each at least kWindow samples and a sixth of all samples, have
  /// medians that differ by less than the tolerance: 2 %, or the noise of such medians where it is larger.
  bool stationary() const;
  /// Stationary after the minimum time, or out of time.
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
