// What each thread of this process has used of its CPU so far: time and, where the kernel lets us, hardware
// counters (perf_event_open).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hone::bench {

class ThreadCounters {
 public:
  /// Of the threads that are there now.
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

  /// All counters of the first thread, of the second and so on. One system call for each thread; zeros for
  /// those that have ended.
  std::vector<uint64_t> read() const;

 private:
  struct Group {
    std::vector<int> files;  ///< the first one reads them all; empty when the thread could not be watched
  };

  std::vector<pid_t> threads_;
  std::vector<std::string> names_;
  std::string missing_;
  std::vector<Group> groups_;
};

}  // namespace hone::bench
