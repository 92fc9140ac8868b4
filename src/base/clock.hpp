// The one host clock of the project (monotonic), and the date for file names and contexts.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace hone::base {

using Clock = std::chrono::steady_clock;

inline double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}
inline double milliseconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}
inline double seconds_since(Clock::time_point start) { return seconds_between(start, Clock::now()); }

/// The clock as nanoseconds; all processes of a machine share it.
inline int64_t nanoseconds(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

/// The date in UTC, "2026-11-21T01:23:45Z".
std::string utc_date();

}  // namespace hone::base
