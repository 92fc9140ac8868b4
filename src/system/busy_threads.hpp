// Artificial load: processes that only keep cores busy, like other programs on a production machine.
#pragma once

#include <sys/types.h>

#include <span>
#include <vector>

namespace hone::system {

class BusyThreads {
 public:
  /// Starts `count` processes with one thread each, on the cores and with the priority of the calling thread,
  /// which must outlive this object. They end with the object or with this thread, however it ends.
  /// Environment error if one cannot be started.
  explicit BusyThreads(int count);
  ~BusyThreads();
  BusyThreads(const BusyThreads&) = delete;
  BusyThreads& operator=(const BusyThreads&) = delete;

  std::span<const pid_t> pids() const { return pids_; }

 private:
  void end();

  std::vector<pid_t> pids_;
};

}  // namespace hone::system
