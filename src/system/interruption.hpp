// A signal that asks a command to end, as a flag that waits can check: work that has begun ends in order, and
// no scratch folders or workers remain.
#pragma once

#include <atomic>
#include <csignal>
#include <iterator>

namespace hone::system {

/// Set (for example by a signal handler) to end every wait.
using StopFlag = std::atomic<bool>;

/// Thrown out of a wait if the stop flag is set.
struct Interrupted {};

/// Set by the first signal that an Interruptible caught, and never reset.
const StopFlag& interruption();
/// This signal; 0 before.
int interrupting_signal();
/// Throws Interrupted if a signal has arrived.
void throw_if_interrupted();

/// During its lifetime, the first Ctrl-C, Ctrl-\, SIGTERM or SIGHUP only sets the flag. Another signal of the
/// same kind counts as the same request within a second; after that, it ends the program at once. SIGPIPE
/// always only sets the flag, because the reader that closed the pipe sees nothing of the orderly end. An
/// ignored SIGHUP stays ignored, which is the purpose of nohup; the same applies to SIGQUIT and SIGPIPE.
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
