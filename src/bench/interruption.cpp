// See interruption.hpp.
#include "bench/interruption.hpp"

#include <atomic>

namespace hone::bench {
namespace {

StopFlag g_stop = false;
std::atomic<int> g_signal = 0;
static_assert(StopFlag::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler must not wait for a lock");

extern "C" void ask_to_stop(int signal) {
  // A pipe closes as well when the terminal does, and that was the cause.
  if (signal != SIGPIPE || g_signal == 0) g_signal = signal;
  g_stop = true;
}

}  // namespace

const StopFlag& interruption() { return g_stop; }

int interrupting_signal() { return g_signal; }

void throw_if_interrupted() {
  if (g_stop) throw Interrupted{};
}

Interruptible::Interruptible() {
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    const int signal = kSignals[i];
    ::sigaction(signal, nullptr, &before_[i]);
    const bool asked_for = signal == SIGINT || signal == SIGTERM;
    if (!asked_for && before_[i].sa_handler == SIG_IGN) continue;
    // The way to the end writes to the closed pipe again.
    action.sa_flags = signal == SIGPIPE ? 0 : static_cast<int>(SA_RESETHAND);
    ::sigaction(signal, &action, nullptr);
  }
}

Interruptible::~Interruptible() {
  for (size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
}

}  // namespace hone::bench
