// Reads the CPU use of each thread of this process so far: its time and, if the kernel allows that, hardware
// counters (perf_event_open).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hone::system {

/// One reading of the counters of all threads.
struct CounterReading {
  std::vector<uint64_t> values;  ///< all counters of the first thread, then of the second, and so on
  std::vector<int64_t> times;    ///< when each thread's counters were read (monotonic clock)
};

class ThreadCounters {
 public:
  /// Counts the threads that exist now.
  ThreadCounters();
  ~ThreadCounters();
  ThreadCounters(const ThreadCounters&) = delete;
  ThreadCounters& operator=(const ThreadCounters&) = delete;

  const std::vector<pid_t>& threads() const { return threads_; }
  /// "CPU time" (ns), always first; "cycles", "instructions" and "cache misses" of user code, if the machine
  /// counts them.
  const std::vector<std::string>& names() const { return names_; }
  /// Why there are no hardware counters; empty if there are.
  const std::string& missing() const { return missing_; }

  /// One system call for each thread; zeros for threads that have ended.
  CounterReading read() const;

 private:
  struct Group {
    std::vector<int> files;  ///< the first one reads all of them; empty if the thread could not be watched
  };

  void read_thread(size_t place, uint64_t* to) const;

  std::vector<pid_t> threads_;
  std::vector<std::string> names_;
  std::string missing_;
  std::vector<Group> groups_;
};

/// A range and the readings around it: one just outside of each end, and the next one beyond each of those.
struct CountedRange {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  const CounterReading& beyond_start;
  const CounterReading& at_start;
  const CounterReading& at_end;
  const CounterReading& beyond_end;
};

/// Returns a thread's use within the range only. A reading takes longer than small steps, and spinning
/// threads use the CPU meanwhile; so the use between the range and the readings at its ends is subtracted, at
/// the rate between those readings and the outer ones. The CPU time is at most the range's length, because
/// the clocks of threads differ slightly. `thread` is the index in ThreadCounters::threads().
std::vector<int64_t> used_in(const CountedRange& range, size_t thread);

}  // namespace hone::system
