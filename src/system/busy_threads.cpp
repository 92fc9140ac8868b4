// See busy_threads.hpp.
#include "system/busy_threads.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace hone::system {
namespace {

/// The main loop of a busy process. The caller may have other threads, so nothing here allocates memory or
/// takes a lock.
[[noreturn]] void spin(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before the request for a signal at its death took effect.
  if (::getppid() != parent) ::_exit(0);
  ::prctl(PR_SET_NAME, "hone busy");
  // Inherited copies of pipes would keep readers from seeing their end.
  ::close_range(0, ~0U, 0);
  for (volatile unsigned long rounds = 0;;) rounds = rounds + 1;
}

}  // namespace

BusyThreads::BusyThreads(int count) {
  const pid_t parent = ::getpid();
  pids_.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) spin(parent);
    if (pid < 0) {
      const int error = errno;
      end();
      fail_environment("cannot start {} busy threads: {}", count, std::strerror(error));
    }
    pids_.push_back(pid);
  }
}

BusyThreads::~BusyThreads() { end(); }

void BusyThreads::end() {
  for (const pid_t pid : pids_) ::kill(pid, SIGKILL);
  for (const pid_t pid : std::exchange(pids_, {})) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

}  // namespace hone::system
