// Threads that share the parallel loops of OpenMP, oneDNN's among them, so that a thread that comes late on a
// busy machine keeps nobody waiting: its share is taken by another.
#pragma once

namespace hone::system {

/// While one lives, the parallel loops that the calling thread begins are run by a team of its own instead of
/// libgomp's. A loop is cut into one share for each of its threads; a thread takes its own share first and
/// then whatever nobody has begun. Where all shares are begun, the calling thread waits for the others, for
/// some microseconds awake and then asleep.
///
/// Shares that meet at barriers, or watch each other's memory, still run at the same time: there is a thread
/// for each share, and one that waits inside of its share takes no other.
///
/// Work sharing that libgomp keeps books of (`omp for` with another schedule than static, `omp single`,
/// `omp sections`) must not stand in such loops. Programs that were not compiled by GCC have their own
/// OpenMP, and nothing changes for them.
class TeamScope {
 public:
  TeamScope();
  ~TeamScope();
  TeamScope(const TeamScope&) = delete;
  TeamScope& operator=(const TeamScope&) = delete;

 private:
  bool before_;
};

}  // namespace hone::system
