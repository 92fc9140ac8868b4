// Records calls of threads in a file that is mapped into memory. It uses no locks, allocations or calls that
// could block, and a process killed at any moment leaves everything that it had written.
#pragma once

#include <cstdint>

#include "trace/collect/raw_records.hpp"

namespace hone::trace::threads {

using raw::ThreadFunction;

/// Nanoseconds by the clock of all records.
uint64_t now();

/// True if a call is to be recorded: recording is on, and the caller is not one of the profiler's own
/// libraries. `caller` is the return address of the call.
bool is_of_program(const void* caller);

/// Records a call of this thread. Does not change errno.
void record(ThreadFunction function, const void* object, uint64_t start, uint64_t end, int result = 0);

/// Records a lock of a mutex that waited; the thread holds the mutex unless `result` is an error.
void record_lock(ThreadFunction function, const void* mutex, uint64_t start, uint64_t end, int result);

/// Records a call that takes no time.
inline void record_now(ThreadFunction function, const void* object) {
  const uint64_t time = now();
  record(function, object, time, time);
}

}  // namespace hone::trace::threads
