// Condition variables. A wait releases its mutex, for which other threads may wait.
#include <pthread.h>

#include "trace/collect/threads/plugin/libc.hpp"
#include "trace/collect/threads/plugin/waiting.hpp"

namespace hone::trace::threads {
namespace {

template <class Wait>
int wait_for_condition(ThreadFunction function, const void* condition, const void* mutex, const void* caller,
                       const Wait& wait) {
  if (!is_of_program(caller)) return wait();
  if (Waiters::any(mutex)) note_unlock(mutex);
  return wait_and_record(function, condition, wait);
}

template <class Wake>
int wake(ThreadFunction function, const void* condition, const Wake& wake) {
  if (!Waiters::any(condition)) return wake();
  const uint64_t time = now();
  const int result = wake();
  if (result == 0) record(function, condition, time, time);
  return result;
}

}  // namespace
}  // namespace hone::trace::threads

// NOLINTBEGIN(readability-identifier-naming): libc's names
#define HONE_EXPORT extern "C" __attribute__((visibility("default")))

HONE_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  using namespace hone::trace::threads;
  return wait_for_condition(ThreadFunction::kConditionWait, condition, mutex, __builtin_return_address(0),
                            [=] { return libc().condition_wait(condition, mutex); });
}

HONE_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                       const timespec* until) {
  using namespace hone::trace::threads;
  return wait_for_condition(ThreadFunction::kConditionTimedWait, condition, mutex,
                            __builtin_return_address(0),
                            [=] { return libc().condition_timedwait(condition, mutex, until); });
}

HONE_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                       const timespec* until) {
  using namespace hone::trace::threads;
  return wait_for_condition(ThreadFunction::kConditionClockWait, condition, mutex,
                            __builtin_return_address(0),
                            [=] { return libc().condition_clockwait(condition, mutex, clock, until); });
}

HONE_EXPORT int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  using namespace hone::trace::threads;
  return wake(ThreadFunction::kConditionSignal, condition,
              [condition] { return libc().condition_signal(condition); });
}

HONE_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  using namespace hone::trace::threads;
  return wake(ThreadFunction::kConditionBroadcast, condition,
              [condition] { return libc().condition_broadcast(condition); });
}
// NOLINTEND(readability-identifier-naming)
