// Mutexes: locking a free mutex costs one additional try, and an unlock for which nobody waits costs one
// read. Only the unlock that ended a wait matters, so the thread that waited records it.
#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "trace/collect/threads/plugin/libc.hpp"
#include "trace/collect/threads/plugin/recorder.hpp"
#include "trace/collect/threads/plugin/waiters.hpp"

namespace hone::trace::threads {
namespace {

/// Called after a failed try: `lock` waits. Its result is returned, whatever it is.
template <class Lock>
int wait_for_mutex(ThreadFunction function, pthread_mutex_t* mutex, const void* caller, const Lock& lock) {
  if (!is_of_program(caller)) return lock();
  std::atomic<uint32_t>& waiters = Waiters::of(mutex).count;
  ++waiters;
  // One that was unlocked before it could see the waiter.
  int result = libc().mutex_trylock(mutex);
  if (result == EBUSY) {
    const uint64_t start = now();
    result = lock();
    record_lock(function, mutex, start, now(), result);
  }
  --waiters;
  return result;
}

}  // namespace
}  // namespace hone::trace::threads

// NOLINTBEGIN(readability-identifier-naming): libc's names
#define HONE_EXPORT extern "C" __attribute__((visibility("default")))

HONE_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using namespace hone::trace::threads;
  if (const int result = libc().mutex_trylock(mutex); result != EBUSY) return result;
  return wait_for_mutex(ThreadFunction::kMutexLock, mutex, __builtin_return_address(0),
                        [mutex] { return libc().mutex_lock(mutex); });
}

HONE_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) noexcept {
  using namespace hone::trace::threads;
  if (const int result = libc().mutex_trylock(mutex); result != EBUSY) return result;
  return wait_for_mutex(ThreadFunction::kMutexTimedLock, mutex, __builtin_return_address(0),
                        [=] { return libc().mutex_timedlock(mutex, until); });
}

HONE_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                        const timespec* until) noexcept {
  using namespace hone::trace::threads;
  if (const int result = libc().mutex_trylock(mutex); result != EBUSY) return result;
  return wait_for_mutex(ThreadFunction::kMutexClockLock, mutex, __builtin_return_address(0),
                        [=] { return libc().mutex_clocklock(mutex, clock, until); });
}

HONE_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  using namespace hone::trace::threads;
  if (Waiters::any(mutex)) note_unlock(mutex);
  return libc().mutex_unlock(mutex);
}
// NOLINTEND(readability-identifier-naming)
