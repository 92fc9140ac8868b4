// A signal that asks a command to end, as something that waits can look at: what was begun is ended in order,
// and scratch folders and workers do not remain.
#pragma once

#include <atomic>
#include <csignal>
#include <iterator>

namespace hone::system {

/// Set, as by a signal handler, to end every wait.
using StopFlag = std::atomic<bool>;

/// Thrown out of a wait when the stop flag is set.
struct Interrupted {};

/// Set by the first signal that an Interruptible caught, and never taken back.
const StopFlag& interruption();
/// That signal; 0 before.
int interrupting_signal();
/// Throws Interrupted once there was one.
void throw_if_interrupted();

/// While it lives, the first Ctrl-C, Ctrl-\, SIGTERM or SIGHUP only sets the flag; another one of its kind is
/// taken for the same wish within a second, and ends the program at once after that. SIGPIPE sets the flag
/// however often it comes: the reader that closed the pipe sees nothing of the way to the end. A SIGHUP that
/// is ignored stays so: that is what nohup is for; and so do SIGQUIT and SIGPIPE.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
  struct sigaction before_[std::size(kSignals)];
};

}  // namespace hone::system
