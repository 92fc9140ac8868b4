// The clock of all records: CUPTI converts the GPU's times to it, and NVTX ranges are stamped with it.
#pragma once

#include <ctime>

#include <cstdint>

namespace hone::trace::inject {

inline uint64_t nanoseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  constexpr uint64_t kBillion = 1'000'000'000;
  return static_cast<uint64_t>(now.tv_sec) * kBillion + static_cast<uint64_t>(now.tv_nsec);
}

/// Monotonic, so that it does not step when the date is set.
inline uint64_t clock_now() { return nanoseconds_of(CLOCK_MONOTONIC); }

}  // namespace hone::trace::inject
