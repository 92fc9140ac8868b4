// A call that may block: it is counted among the waiters of its object while it runs, also if the thread is
// cancelled during the call.
#pragma once

#include <pthread.h>

#include <cerrno>

#include "trace/collect/threads/plugin/recorder.hpp"
#include "trace/collect/threads/plugin/waiters.hpp"

namespace hone::trace::threads {

/// Calls `wait`, which returns 0, or reports a failure by an error number as its value or in errno.
template <class Wait>
int wait_and_record(ThreadFunction function, const void* object, const Wait& wait) {
  Waiters& waiters = Waiters::of(object);
  const uint64_t start = now();
  int result = 0;
  ++waiters.count;
  pthread_cleanup_push([](void* count) { --*static_cast<decltype(&waiters.count)>(count); }, &waiters.count);
  result = wait();
  pthread_cleanup_pop(1);
  record(function, object, start, now(), result < 0 ? errno : result);
  return result;
}

}  // namespace hone::trace::threads
