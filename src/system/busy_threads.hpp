// Foreign load on purpose: processes that do nothing but keep cores busy, as the neighbours of a program in
// production do.
#pragma once

#include <sys/types.h>

#include <span>
#include <vector>

namespace hone::system {

class BusyThreads {
 public:
  /// Starts `count` processes of one thread each, on the cores and at the priority of the calling thread,
  /// which must outlive this object: they end with the object and with that thread, however it ends.
  /// Environment error when one cannot be started.
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
