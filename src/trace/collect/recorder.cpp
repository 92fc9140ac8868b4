// See recorder.hpp.
#include "trace/collect/recorder.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/plugin.hpp"
#include "bench/scratch.hpp"
#include "trace/collect/raw_reader.hpp"

namespace hone::trace {
namespace {

std::filesystem::path injected_library() {
  std::filesystem::path library = std::filesystem::path(base::library_folder()) / "libhone-inject.so";
  if (!std::filesystem::exists(library))
    fail_environment(
        "libhone-inject.so was not built (it needs CUPTI and NVTX, which come with the CUDA toolkit)");
  return library;
}

/// Our environment with some variables set.
class Environment {
 public:
  explicit Environment(const std::vector<std::pair<std::string, std::string>>& changes) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text(*entry);
      const bool changed = std::any_of(changes.begin(), changes.end(), [&](const auto& change) {
        return text.starts_with(change.first + "=");
      });
      if (!changed) entries_.emplace_back(text);
    }
    for (const auto& [name, value] : changes) entries_.push_back(name + "=" + value);
    for (std::string& entry : entries_) pointers_.push_back(entry.data());
    pointers_.push_back(nullptr);
  }
  char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> entries_;
  std::vector<char*> pointers_;
};

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

pid_t start(const std::vector<std::string>& command, const Environment& environment) {
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
  const int error =
      ::posix_spawnp(&pid, arguments[0], nullptr, &attributes, arguments.data(), environment.data());
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

std::string joined(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

Recording record(const std::vector<std::string>& command, const RecordOptions& options) {
  const std::string library = injected_library().string();
  const bench::Scratch scratch;
  const Environment environment({{"CUDA_INJECTION64_PATH", library},
                                 {"NVTX_INJECTION64_PATH", library},
                                 {"HONE_TRACE_FOLDER", scratch.folder().string()},
                                 {"HONE_TRACE_DRIVER_API", options.driver_api ? "1" : "0"}});
  Recording recording;
  {
    const InterruptsIgnored ignored;
    recording.exit_code = wait_for(start(command, environment));
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.folder())) {
    if (entry.path().extension() == ".honeraw") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  recording.processes = files.size();
  recording.trace = read_raw(files);
  recording.trace.metadata["command"] = joined(command);
  recording.trace.metadata["exit_code"] = std::to_string(recording.exit_code);
  recording.trace.metadata["recorded_at"] = base::utc_date();
  return recording;
}

}  // namespace hone::trace
