// The only host clock of the project (monotonic), and the date for file names and contexts.
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

/// CLOCK_MONOTONIC in nanoseconds, which all processes of a machine share; the clock of traces.
int64_t monotonic_ns();

/// Nanoseconds since 1970, by the wall clock, which can be set.
int64_t utc_ns();

/// The date in UTC, "2026-11-21T01:23:45Z".
std::string utc_date();

}  // namespace hone::base
