// See interruption.hpp.
#include "system/interruption.hpp"

#include <atomic>

#include "base/clock.hpp"

namespace hone::system {
namespace {

/// A single request to end may come as several signals: GNU timeout signals first the program, then its
/// group.
constexpr int64_t kOneWishNs = 1'000'000'000;

StopFlag g_stop = false;
std::atomic<int> g_signal = 0;
/// The time of the first signal of each kind; 0 before.
std::atomic<int64_t> g_first_ns[NSIG];
static_assert(StopFlag::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
                  std::atomic<int64_t>::is_always_lock_free,
              "a signal handler must not wait for a lock");

/// True if the user asks again because the orderly end takes too long.
bool is_impatient(int signal) {
  const int64_t now = base::monotonic_ns();
  int64_t first = 0;
  const bool is_first = g_first_ns[signal].compare_exchange_strong(first, now);
  // While the program ends, it may write to the closed pipe again.
  return !is_first && signal != SIGPIPE && now - first > kOneWishNs;
}

extern "C" void ask_to_stop(int signal) {
  if (is_impatient(signal)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  // If the terminal is closed, pipes close too, but the terminal is the cause.
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
    ::sigaction(signal, &action, nullptr);
  }
}

Interruptible::~Interruptible() {
  for (size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
}

}  // namespace hone::system
