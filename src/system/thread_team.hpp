// Runs the parallel loops of OpenMP (including those of oneDNN) in a team of threads, in which a thread that
// is late on a busy machine does not delay the others: another thread takes its share.
#pragma once

namespace hone::system {

/// During its lifetime, parallel loops that the calling thread begins are run by its own team instead of
/// libgomp's. A loop is divided into one share for each thread. A thread takes its own share first, then any
/// share that has not begun. When all shares have begun, the calling thread waits for the others, first
/// spinning for some microseconds and then asleep.
///
/// Shares that meet at barriers or watch each other's memory still run at the same time: there is a thread
/// for each share, and a thread that waits inside of its share takes no other share.
///
/// Work sharing for which libgomp keeps state (`omp for` with a schedule other than static, `omp single`,
/// `omp sections`) must not be used in such loops. Programs that were not compiled by GCC have their own
/// OpenMP and are not affected.
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
