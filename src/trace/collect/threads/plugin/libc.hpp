// The thread functions of libc, which this library replaces.
#pragma once

#include <pthread.h>
#include <semaphore.h>

namespace hone::trace::threads {

struct Libc {
  decltype(&::pthread_create) create;
  decltype(&::pthread_join) join;
  decltype(&::pthread_mutex_lock) mutex_lock;
  decltype(&::pthread_mutex_trylock) mutex_trylock;
  decltype(&::pthread_mutex_timedlock) mutex_timedlock;
  decltype(&::pthread_mutex_clocklock) mutex_clocklock;
  decltype(&::pthread_mutex_unlock) mutex_unlock;
  decltype(&::pthread_cond_wait) condition_wait;
  decltype(&::pthread_cond_timedwait) condition_timedwait;
  decltype(&::pthread_cond_clockwait) condition_clockwait;
  decltype(&::pthread_cond_signal) condition_signal;
  decltype(&::pthread_cond_broadcast) condition_broadcast;
  decltype(&::sem_wait) semaphore_wait;
  decltype(&::sem_trywait) semaphore_trywait;
  decltype(&::sem_timedwait) semaphore_timedwait;
  decltype(&::sem_clockwait) semaphore_clockwait;
  decltype(&::sem_post) semaphore_post;
};

/// The functions are looked up at the first call of any of them, which may come before this library is
/// initialised.
const Libc& libc();

}  // namespace hone::trace::threads
