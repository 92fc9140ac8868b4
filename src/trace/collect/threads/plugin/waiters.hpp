// Counts the threads that wait for a mutex, a condition variable or a semaphore, so that calls that wake
// nobody are not recorded.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace hone::trace::threads {

/// Counts the waiters of all objects that share this entry: sometimes this costs an unnecessary look, but no
/// waiter is missed.
struct Waiters {
  std::atomic<uint32_t> count = 0;
  // The last unlock of a mutex for which somebody waited. A thread that writes or reads these fields holds
  // the mutex; two mutexes that share the fields may disturb each other, which `mutex` shows in nearly all
  // cases.
  std::atomic<const void*> mutex = nullptr;
  std::atomic<uint64_t> unlocked = 0;
  std::atomic<uint32_t> unlocked_by = 0;

  static Waiters& of(const void* object);
  static bool any(const void* object) { return of(object).count.load() != 0; }
};

inline constinit std::array<Waiters, 1U << 12> all_waiters{};

inline Waiters& Waiters::of(const void* object) {
  const auto address = reinterpret_cast<uintptr_t>(object);
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio: Fibonacci hashing
  constexpr int kShift = 64 - 12;
  return all_waiters[(address * kMultiplier) >> kShift];
}

/// Called before a mutex is unlocked for which others wait.
void note_unlock(const void* mutex);

}  // namespace hone::trace::threads
