// Who waits for a mutex, a condition or a semaphore, so that what wakes nobody is not recorded.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace hone::trace::threads {

/// Counts waiters of all objects that share it: that costs a look too many now and then, never one too few.
struct Waiters {
  std::atomic<uint32_t> count = 0;
  // The last unlock of a mutex that somebody waited for. Whoever writes or reads them has the mutex; two
  // mutexes that share them may disturb each other, which `mutex` shows except for a moment's coincidence.
  std::atomic<const void*> mutex = nullptr;
  std::atomic<uint64_t> unlocked = 0;
  std::atomic<uint32_t> unlocked_by = 0;

  static Waiters& of(const void* object);
  static bool any(const void* object) { return of(object).count.load() != 0; }
};

inline constinit std::array<Waiters, 1U << 12> all_waiters{};

inline Waiters& Waiters::of(const void* object) {
  const auto address = reinterpret_cast<uintptr_t>(object);
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio: Fibonacci hashing
  constexpr int kShift = 64 - 12;
  return all_waiters[(address * kMultiplier) >> kShift];
}

/// Called before a mutex that others wait for is unlocked.
void note_unlock(const void* mutex);

}  // namespace hone::trace::threads
