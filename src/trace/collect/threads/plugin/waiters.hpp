// How many threads wait for a mutex, a condition or a semaphore, so that what wakes nobody is not recorded.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace hone::trace::threads {

/// Objects share counters, which costs a record too many now and then, never one too few.
class Waiters {
 public:
  using Count = std::atomic<uint32_t>;

  static Count& of(const void* object) {
    const auto address = reinterpret_cast<uintptr_t>(object);
    constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio: Fibonacci hashing
    constexpr int kShift = 64 - 12;
    return counts[(address * kMultiplier) >> kShift];
  }
  static bool any(const void* object) { return of(object).load() != 0; }

 private:
  static inline constinit std::array<Count, 1U << 12> counts{};
};

}  // namespace hone::trace::threads
