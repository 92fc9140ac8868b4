// See libc.hpp.
#include "trace/collect/threads/plugin/libc.hpp"

#include <dlfcn.h>

#include <atomic>

namespace hone::trace::threads {
namespace {

constinit Libc found{};
constinit std::atomic<bool> is_found = false;

template <class F>
void find(F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

/// Condition variables of before 2002 have another type under the same names, and dlsym may find their
/// functions.
template <class F>
void find_condition(F& function, const char* name) {
  function = reinterpret_cast<F>(dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2"));
  if (function == nullptr) find(function, name);
}

/// Two threads may run this at the same time; both find the same functions.
void find_all() {
  find(found.create, "pthread_create");
  find(found.join, "pthread_join");
  find(found.mutex_trylock, "pthread_mutex_trylock");
  find(found.mutex_timedlock, "pthread_mutex_timedlock");
  find(found.mutex_clocklock, "pthread_mutex_clocklock");
  find(found.mutex_unlock, "pthread_mutex_unlock");
  find(found.mutex_lock, "pthread_mutex_lock");
  find_condition(found.condition_wait, "pthread_cond_wait");
  find_condition(found.condition_timedwait, "pthread_cond_timedwait");
  find_condition(found.condition_signal, "pthread_cond_signal");
  find_condition(found.condition_broadcast, "pthread_cond_broadcast");
  find(found.condition_clockwait, "pthread_cond_clockwait");
  find(found.semaphore_wait, "sem_wait");
  find(found.semaphore_trywait, "sem_trywait");
  find(found.semaphore_timedwait, "sem_timedwait");
  find(found.semaphore_clockwait, "sem_clockwait");
  find(found.semaphore_post, "sem_post");
}

}  // namespace

const Libc& libc() {
  if (!is_found.load(std::memory_order_acquire)) {
    find_all();
    is_found.store(true, std::memory_order_release);
  }
  return found;
}

}  // namespace hone::trace::threads
