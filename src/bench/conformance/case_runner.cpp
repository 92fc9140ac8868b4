// See case_runner.hpp. The child writes one JSON line per finished case into a pipe.
#include "bench/conformance/case_runner.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "backend/registry.hpp"
#include "base/json.hpp"

namespace hone::bench {
namespace {

bool send(const Json& json, int pipe) {
  const std::string line = json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
  return ::write(pipe, line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

/// Makes the backend. If it is not available on the device, that concerns all cases, so the process ends.
std::unique_ptr<backend::Backend> backend_of_child(const RunnerOptions& options, int pipe) {
  try {
    auto backend = backend::make_backend(options.backend);
    backend->require_device(options.conformance.device);
    if (options.conformance.precision != tensor::Precision::kFp32)
      require_precision(*backend, options.conformance);
    return backend;
  } catch (const Error& error) {
    (void)send({{"error", error.what()}, {"kind", static_cast<int>(error.kind())}}, pipe);
    ::_exit(0);
  }
}

/// Runs the cases from the first to the last; never returns. Only this child process uses the device: after a
/// fork, it could not use a GPU that the parent had already initialized.
[[noreturn]] void run_child(std::span<const ConformanceCase> cases, const RunnerOptions& options, int pipe) {
  int status = 0;
  try {
    const auto backend = backend_of_child(options, pipe);
    for (const ConformanceCase& test : cases) {
      const CaseResult result = run_case(test, *backend, options.conformance);
      const Json json = {{"status", static_cast<int>(result.status)},
                         {"reason", result.reason},
                         {"message", result.message}};
      if (!send(json, pipe)) break;
    }
  } catch (...) {
    status = 1;
  }
  ::_exit(status);
}

class Child {
 public:
  Child(std::span<const ConformanceCase> cases, const RunnerOptions& options) {
    int ends[2];
    if (::pipe(ends) != 0) fail_environment("cannot make a pipe: {}", std::strerror(errno));
    pid_ = ::fork();
    if (pid_ < 0) fail_environment("cannot start a process: {}", std::strerror(errno));
    if (pid_ == 0) {
      ::close(ends[0]);
      run_child(cases, options, ends[1]);
    }
    ::close(ends[1]);
    pipe_ = ends[0];
  }
  ~Child() {
    if (pid_ > 0) stop();
    ::close(pipe_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  enum class Event { kLine, kEnd, kTimeout };

  Event next_line(std::string& line, int timeout_seconds) {
    for (;;) {
      const size_t end = buffer_.find('\n');
      if (end != std::string::npos) {
        line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return Event::kLine;
      }
      pollfd waiting{pipe_, POLLIN, 0};
      const int ready = ::poll(&waiting, 1, timeout_seconds * 1000);
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0) return Event::kTimeout;
      char chunk[4096];
      const ssize_t n = ::read(pipe_, chunk, sizeof chunk);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return Event::kEnd;
      buffer_.append(chunk, static_cast<size_t>(n));
    }
  }

  /// Ends the process and describes how it ended.
  std::string stop() {
    ::kill(pid_, SIGKILL);
    return wait();
  }
  std::string wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    if (WIFSIGNALED(status)) return fmt::format("crashed: {}", ::strsignal(WTERMSIG(status)));
    return fmt::format("the process ended with exit code {}", WEXITSTATUS(status));
  }

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
  std::string buffer_;
};

}  // namespace

std::vector<CaseResult> run_cases(std::span<const ConformanceCase> cases, const RunnerOptions& options,
                                  const std::function<void(const CaseResult&)>& progress) {
  std::vector<CaseResult> results;
  const auto add = [&](CaseResult result) {
    results.push_back(std::move(result));
    progress(results.back());
  };
  while (results.size() < cases.size()) {
    Child child(cases.subspan(results.size()), options);
    std::string line;
    auto event = Child::Event::kLine;
    while (results.size() < cases.size()) {
      event = child.next_line(line, options.timeout_seconds);
      if (event != Child::Event::kLine) break;
      const Json json = Json::parse(line);
      if (json.contains("error")) {
        throw Error(static_cast<ErrorKind>(json.at("kind").get<int>()), json.at("error").get<std::string>());
      }
      add({cases[results.size()].name, static_cast<CaseStatus>(json.at("status").get<int>()),
           json.at("reason").get<std::string>(), json.at("message").get<std::string>()});
    }
    if (results.size() == cases.size()) break;
    const bool hangs = event == Child::Event::kTimeout;
    const std::string ending = hangs ? child.stop() : child.wait();
    add({cases[results.size()].name, CaseStatus::kFailed, "",
         hangs ? fmt::format("not done after {} seconds", options.timeout_seconds) : ending});
  }
  return results;
}

}  // namespace hone::bench
