// See recorder.hpp.
#include "trace/collect/recorder.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "bench/scratch.hpp"
#include "trace/collect/gpu_log.hpp"
#include "trace/collect/metric_values.hpp"

namespace hone::trace {
namespace {

/// While it lives, Ctrl-C is the program's business.
class InterruptsIgnored {
 public:
  InterruptsIgnored() {
    for (size_t i = 0; i < kSignals.size(); ++i) before_[i] = std::signal(kSignals[i], SIG_IGN);
  }
  ~InterruptsIgnored() {
    for (size_t i = 0; i < kSignals.size(); ++i) std::signal(kSignals[i], before_[i]);
  }
  InterruptsIgnored(const InterruptsIgnored&) = delete;
  InterruptsIgnored& operator=(const InterruptsIgnored&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGQUIT};
  std::array<void (*)(int), kSignals.size()> before_{};
};

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

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) fail_environment("waiting for the program: {}", std::strerror(errno));
  }
  constexpr int kSignalBase = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status);
}

/// Asked before `env` is, which would be the one that was started.
bool is_executable(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string joined(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

Recording record(const std::vector<std::string>& command, const InjectionOptions& options) {
  if (!is_executable(command[0])) fail_environment("{} cannot be started: no such program", command[0]);
  const bench::Scratch scratch;
  std::vector<std::string> injected = injected_command(command, scratch.folder(), options);
  if (options.threads_api) injected.insert(injected.begin() + 1, preload_variable());
  Recording recording;
  const bool measures = !options.metrics.empty();
  std::optional<GpuLog> gpu_log;
  if (!measures) gpu_log.emplace();  // there will be no devices that its figures could belong to
  {
    const InterruptsIgnored ignored;
    recording.exit_code = wait_for(start(injected));
  }
  recording.processes = process_count(injected_files(scratch.folder()));
  recording.trace = read_injected(scratch.folder());
  if (measures) {
    finish_metrics(recording.trace, options.metrics);
  } else {
    gpu_log->add_to(recording.trace);
  }
  if (recording.processes > 0) note_capture(options.capture, recording.trace);
  recording.trace.metadata["command"] = joined(command);
  recording.trace.metadata["exit_code"] = std::to_string(recording.exit_code);
  recording.trace.metadata["recorded_at"] = base::utc_date();
  return recording;
}

}  // namespace hone::trace
