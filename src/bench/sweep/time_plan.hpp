// Estimates the remaining time of a sweep from the times of its configurations so far. The estimate never
// grows: if a configuration takes longer than expected, the estimate stays constant.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "base/clock.hpp"

namespace hone::bench {

class TimePlan {
 public:
  TimePlan(size_t configurations, double seconds_each)
      : waiting_(configurations),
        measuring_s_(static_cast<double>(configurations) * seconds_each),
        seconds_each_(seconds_each) {}

  /// A configuration has been started and warmed up.
  void prepared(double seconds) {
    setup_s_ += seconds;
    ++prepared_;
    --waiting_;
  }
  void measured(double seconds) { measuring_s_ = measuring_s_ > seconds ? measuring_s_ - seconds : 0; }
  /// A configuration needs no more rounds after `seconds` of measuring.
  void finished(double seconds) {
    if (seconds < seconds_each_) measured(seconds_each_ - seconds);
  }

  double done_seconds() const { return base::seconds_since(start_); }
  double left_seconds() {
    const double setup = prepared_ > 0 ? setup_s_ / static_cast<double>(prepared_) : kFirstGuess;
    least_left_s_ = std::min(least_left_s_, static_cast<double>(waiting_) * setup + measuring_s_);
    return least_left_s_;
  }

 private:
  /// Seconds to load, tune and warm up a network of the size of ResNet-50 on two cores.
  static constexpr double kFirstGuess = 8;

  size_t waiting_;
  size_t prepared_ = 0;
  double setup_s_ = 0;
  double measuring_s_;
  double seconds_each_;
  double least_left_s_ = std::numeric_limits<double>::infinity();
  base::Clock::time_point start_ = base::Clock::now();
};

}  // namespace hone::bench
