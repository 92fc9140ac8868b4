// Relates the GPU's global timer to the host's clock.
#pragma once

#include <cstdint>

#include "device/cuda/plugin/runtime.hpp"
#include "device/cuda/plugin/watch/watch_times.hpp"

namespace hone::device::cuda {

/// Reads both clocks at construction and on request, and interpolates linearly between the two readings.
class GpuClock {
 public:
  explicit GpuClock(const Stream& stream) : first_(ask(stream)), last_(first_) {}
  /// Call it after the events whose times are to be converted.
  void ask_again(const Stream& stream) { last_ = ask(stream); }
  /// The value of base::monotonic_ns() when the timer had this value.
  int64_t host_ns(int64_t gpu_ns) const { return host_time(first_, last_, gpu_ns); }
  /// The possible error of host_ns(): half of the time between a question and its answer.
  int64_t uncertainty_ns() const;

 private:
  /// The quickest of several answers. Environment error if there is none.
  static ClockReading ask(const Stream& stream);

  ClockReading first_;
  ClockReading last_;
};

}  // namespace hone::device::cuda
