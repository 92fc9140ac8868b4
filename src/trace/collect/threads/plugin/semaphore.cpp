// Semaphores, on which Python builds its locks.
#include <semaphore.h>

#include <cerrno>

#include "trace/collect/threads/plugin/libc.hpp"
#include "trace/collect/threads/plugin/waiting.hpp"

namespace hone::trace::threads {
namespace {

template <class Wait>
int wait_for_semaphore(ThreadFunction function, sem_t* semaphore, const void* caller, const Wait& wait) {
  const int error = errno;
  if (libc().semaphore_trywait(semaphore) == 0) return 0;
  errno = error;
  return is_of_program(caller) ? wait_and_record(function, semaphore, wait) : wait();
}

}  // namespace
}  // namespace hone::trace::threads

// NOLINTBEGIN(readability-identifier-naming): libc's names
#define HONE_EXPORT extern "C" __attribute__((visibility("default")))

HONE_EXPORT int sem_wait(sem_t* semaphore) {
  using namespace hone::trace::threads;
  return wait_for_semaphore(ThreadFunction::kSemaphoreWait, semaphore, __builtin_return_address(0),
                            [semaphore] { return libc().semaphore_wait(semaphore); });
}

HONE_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* until) {
  using namespace hone::trace::threads;
  return wait_for_semaphore(ThreadFunction::kSemaphoreTimedWait, semaphore, __builtin_return_address(0),
                            [=] { return libc().semaphore_timedwait(semaphore, until); });
}

HONE_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  using namespace hone::trace::threads;
  return wait_for_semaphore(ThreadFunction::kSemaphoreClockWait, semaphore, __builtin_return_address(0),
                            [=] { return libc().semaphore_clockwait(semaphore, clock, until); });
}

HONE_EXPORT int sem_post(sem_t* semaphore) noexcept {
  using namespace hone::trace::threads;
  if (!Waiters::any(semaphore)) return libc().semaphore_post(semaphore);
  const uint64_t time = now();
  const int result = libc().semaphore_post(semaphore);
  if (result == 0) record(ThreadFunction::kSemaphorePost, semaphore, time, time);
  return result;
}
// NOLINTEND(readability-identifier-naming)
