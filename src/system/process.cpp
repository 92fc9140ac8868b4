// See process.hpp.
#include "system/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "system/interruption.hpp"

namespace hone::system {
namespace {

constexpr size_t kMaxLine = size_t{256} << 20;
/// Time for a child to exit after it has closed its output.
constexpr auto kExitGrace = std::chrono::seconds(5);
constexpr auto kPollSlice = std::chrono::milliseconds(200);

void close_if_open(int* fd) {
  if (*fd >= 0) ::close(std::exchange(*fd, -1));
}

/// posix_spawn's two attribute objects, freed together.
struct SpawnPlan {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    // A separate process group: Ctrl-C on the terminal reaches only the parent, which then decides.
    ::posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
};

/// If memory runs out, the system should kill the worker, not the process that reports it.
void offer_to_oom_killer(pid_t pid) {
  std::ofstream("/proc/" + std::to_string(pid) + "/oom_score_adj") << "1000";
}

}  // namespace

Process::Process(const std::vector<std::string>& command, std::filesystem::path error_file,
                 const StopFlag* stop)
    : error_file_(std::move(error_file)), stop_(stop == nullptr ? &interruption() : stop) {
  int input[2] = {-1, -1};
  int output[2] = {-1, -1};
  // The child's input is a socket, so that writing to a dead child returns an error instead of raising
  // SIGPIPE.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) != 0 || ::pipe2(output, O_CLOEXEC) != 0) {
    const int error = errno;
    close_if_open(&input[0]);
    close_if_open(&input[1]);
    fail_environment("cannot make pipes for a worker: {}", std::strerror(error));
  }
  std::vector<char*> arguments;
  for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
  arguments.push_back(nullptr);

  SpawnPlan plan;
  ::posix_spawn_file_actions_adddup2(&plan.actions, input[1], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&plan.actions, output[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&plan.actions, STDERR_FILENO, error_file_.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int error = ::posix_spawnp(&pid_, command.front().c_str(), &plan.actions, &plan.attributes,
                                   arguments.data(), environ);
  ::close(input[1]);
  ::close(output[1]);
  to_child_ = input[0];
  from_child_ = output[0];
  if (error != 0) {
    pid_ = -1;
    close_if_open(&to_child_);
    close_if_open(&from_child_);
    fail_environment("cannot start '{}': {}", command.front(), std::strerror(error));
  }
  offer_to_oom_killer(pid_);
}

Process::~Process() {
  kill_group();
  close_if_open(&to_child_);
  close_if_open(&from_child_);
}

void Process::kill_group() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  reap(0);
}

void Process::reap(int options) {
  if (status_) return;
  int status = 0;
  pid_t result = 0;
  do {
    result = ::waitpid(pid_, &status, options);
  } while (result < 0 && errno == EINTR);
  if (result == pid_) status_ = status;
}

bool Process::send_line(std::string_view line) {
  std::string text(line);
  text += '\n';
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t n = ::send(to_child_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    rest.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

Process::ReadResult Process::read_line(std::string* line, base::Clock::time_point deadline) {
  size_t searched = 0;
  for (;;) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      line->assign(buffer_, 0, end);
      buffer_.erase(0, end + 1);
      return ReadResult::kLine;
    }
    searched = buffer_.size();
    if (buffer_.size() > kMaxLine) fail_environment("a worker wrote a line of more than {} bytes", kMaxLine);

    if (stop_->load()) throw Interrupted{};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - base::Clock::now());
    if (left.count() <= 0) return ReadResult::kTimeout;
    pollfd waiter{from_child_, POLLIN, 0};
    // Polls in short slices, so that a signal between the check above and poll() is noticed soon.
    const auto slice = std::min<std::chrono::milliseconds>(left, kPollSlice);
    if (::poll(&waiter, 1, static_cast<int>(slice.count())) <= 0) continue;

    char chunk[65536];
    const ssize_t n = ::read(from_child_, chunk, sizeof(chunk));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ReadResult::kEnd;
    buffer_.append(chunk, static_cast<size_t>(n));
  }
}

std::string Process::describe_end() {
  const auto deadline = base::Clock::now() + kExitGrace;
  for (reap(WNOHANG); !status_ && base::Clock::now() < deadline; reap(WNOHANG)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (!status_) return "closed its output without exiting";
  if (WIFSIGNALED(*status_)) {
    const int signal = WTERMSIG(*status_);
    if (signal == SIGKILL) return "was killed (signal 9), most likely because memory ran out";
    return fmt::format("crashed with signal {} ({})", signal, ::strsignal(signal));
  }
  return fmt::format("exited with code {}", WEXITSTATUS(*status_));
}

bool Process::crashed() const {
  if (!status_ || !WIFSIGNALED(*status_)) return false;
  constexpr std::array kOwn = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
  return std::find(kOwn.begin(), kOwn.end(), WTERMSIG(*status_)) != kOwn.end();
}

std::optional<int> Process::exit_code() const {
  if (!status_ || !WIFEXITED(*status_)) return std::nullopt;
  return WEXITSTATUS(*status_);
}

std::string Process::last_error_line() const {
  std::ifstream file(error_file_);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  constexpr size_t kLongest = 300;
  if (last.size() > kLongest) last.resize(kLongest);
  return last;
}

}  // namespace hone::system
