// The GPU's global timer next to the host's clock.
#pragma once

#include <cstdint>

#include "device/cuda/plugin/runtime.hpp"
#include "device/cuda/plugin/watch/watch_times.hpp"

namespace hone::device::cuda {

/// Reads both clocks when it is made and when it is asked to, and draws a line through the two readings.
class GpuClock {
 public:
  explicit GpuClock(const Stream& stream) : first_(ask(stream)), last_(first_) {}
  /// When what is to be dated has happened.
  void ask_again(const Stream& stream) { last_ = ask(stream); }
  /// base::monotonic_ns() when the timer stood there.
  int64_t host_ns(int64_t gpu_ns) const { return host_time(first_, last_, gpu_ns); }
  /// By how much host_ns() may be off: half of the way of a question and its answer.
  int64_t uncertainty_ns() const;

 private:
  /// The quickest answer of several. Environment error when none comes.
  static ClockReading ask(const Stream& stream);

  ClockReading first_;
  ClockReading last_;
};

}  // namespace hone::device::cuda
