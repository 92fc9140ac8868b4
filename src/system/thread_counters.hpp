// Reads how much of the CPU each thread of this process has used so far: time and, where the kernel lets us,
// hardware counters (perf_event_open).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hone::system {

/// One look at the counters of all threads.
struct CounterReading {
  std::vector<uint64_t> values;  ///< all counters of the first thread, of the second and so on
  std::vector<int64_t> times;    ///< when each thread's were read (monotonic clock)
};

class ThreadCounters {
 public:
  /// Counts the threads that exist now.
  ThreadCounters();
  ~ThreadCounters();
  ThreadCounters(const ThreadCounters&) = delete;
  ThreadCounters& operator=(const ThreadCounters&) = delete;

  const std::vector<pid_t>& threads() const { return threads_; }
  /// "CPU time" (ns), always the first; "cycles", "instructions" and "cache misses" of user code where the
  /// machine counts them.
  const std::vector<std::string>& names() const { return names_; }
  /// Why there are no hardware counters; empty when there are.
  const std::string& missing() const { return missing_; }

  /// One system call for each thread; zeros for those that have ended.
  CounterReading read() const;

 private:
  struct Group {
    std::vector<int> files;  ///< the first one reads them all; empty when the thread could not be watched
  };

  void read_thread(size_t place, uint64_t* to) const;

  std::vector<pid_t> threads_;
  std::vector<std::string> names_;
  std::string missing_;
  std::vector<Group> groups_;
};

/// A range and the readings around it: one just outside each end, and the next one beyond each of those.
struct CountedRange {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  const CounterReading& beyond_start;
  const CounterReading& at_start;
  const CounterReading& at_end;
  const CounterReading& beyond_end;
};

/// Returns a thread's use within the range only: reading takes longer than small steps, and threads that spin
/// use the CPU meanwhile. The use between the range and the readings at its ends is subtracted, at the rate
/// between those and the ones beyond. Its CPU time is at most the range's length: the rest is in how far the
/// clocks of threads agree. `thread` is its place in ThreadCounters::threads().
std::vector<int64_t> used_in(const CountedRange& range, size_t thread);

}  // namespace hone::system
