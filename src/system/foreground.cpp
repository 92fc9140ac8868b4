// See foreground.hpp.
#include "system/foreground.hpp"

#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sstream>

#include "base/error.hpp"
#include "system/interruption.hpp"

namespace hone::system {
namespace {

/// The process to which signals are passed on; 0 if there is none (yet).
std::atomic<pid_t> g_program = 0;
std::atomic<int> g_passed_on = 0;
static_assert(std::atomic<pid_t>::is_always_lock_free, "a signal handler must not wait for a lock");

extern "C" void pass_on(int signal, siginfo_t* info, void* /*context*/) {
  // A signal from the terminal reaches its whole foreground group, which includes the program.
  if ((signal == SIGINT || signal == SIGQUIT) && info->si_code == SI_KERNEL) return;
  const int error = errno;
  g_passed_on = signal;
  if (const pid_t program = g_program; program > 0) ::kill(program, signal);
  errno = error;
}

/// During its lifetime, the program handles the terminal's signals, and signals sent to hone are passed on to
/// it.
class SignalsPassedOn {
 public:
  SignalsPassedOn() {
    g_passed_on = 0;
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      struct sigaction action {};
      action.sa_sigaction = pass_on;
      action.sa_flags = SA_RESTART | SA_SIGINFO;
      ::sigaction(kSignals[i], nullptr, &before_[i]);
      // Signals that hone ignores, for example because of nohup, are ignored by the program too.
      if (before_[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
    }
  }
  ~SignalsPassedOn() {
    to_nobody();
    for (size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  SignalsPassedOn(const SignalsPassedOn&) = delete;
  SignalsPassedOn& operator=(const SignalsPassedOn&) = delete;

  /// From now on, passes signals on to this program, including those that arrived meanwhile.
  void to(pid_t program) const {
    g_program = program;
    if (const int signal = g_passed_on; signal != 0) ::kill(program, signal);
  }
  void to_nobody() const { g_program = 0; }
  int last() const { return g_passed_on; }

 private:
  static constexpr int kSignals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  struct sigaction before_[std::size(kSignals)];
};

/// Starting a program resets handlers, but not ignored signals.
pid_t start(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGQUIT);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, arguments[0], nullptr, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) fail_environment("{} cannot be started: {}", command[0], std::strerror(error));
  return pid;
}

/// Returns when it has ended; its process id is not yet free for another program.
void wait_for_end(pid_t pid) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) < 0) {
    if (errno != EINTR) fail_environment("waiting for the program: {}", std::strerror(errno));
  }
}

int exit_code(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) fail_environment("waiting for the program: {}", std::strerror(errno));
  }
  constexpr int kSignalBase = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status);
}

std::string why_not_startable_file(const std::string& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0)
    return errno == ENOENT || errno == ENOTDIR ? "no such program" : std::strerror(errno);
  if (S_ISDIR(info.st_mode)) return "it is a folder";
  return ::access(file.c_str(), X_OK) == 0 ? "" : "it is not executable";
}

}  // namespace

std::string why_not_startable(const std::string& program) {
  if (program.find('/') != std::string::npos) return why_not_startable_file(program);
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  std::string found;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string reason = why_not_startable_file(folder.empty() ? program : folder + "/" + program);
    if (reason.empty()) return "";
    if (reason == "it is not executable" && found.empty()) found = reason;
  }
  return found.empty() ? "no such program" : found;
}

ForegroundEnd run_in_foreground(const std::vector<std::string>& command) {
  const SignalsPassedOn signals;
  throw_if_interrupted();
  const pid_t program = start(command);
  signals.to(program);
  wait_for_end(program);
  signals.to_nobody();
  return {exit_code(program), signals.last()};
}

}  // namespace hone::system
