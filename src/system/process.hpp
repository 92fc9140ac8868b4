// A child process that talks in lines: its standard input and output are ours, its standard error goes to
// a file. Every wait has a deadline, so a child that hangs or dies is an answer, never a blocked parent.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "system/interruption.hpp"

namespace hone::system {

class Process {
 public:
  /// Starts the program (found through PATH when it has no slash) in a process group of its own. Without a
  /// stop flag, what interrupts the whole command (interruption.hpp) ends the waits.
  /// Environment error when it cannot be started.
  Process(const std::vector<std::string>& command, std::filesystem::path error_file, const StopFlag* stop);
  /// Kills the whole process group.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  /// False when the child has closed its end.
  bool send_line(std::string_view line);
  enum class ReadResult { kLine, kEnd, kTimeout };
  /// The next line without its newline. Environment error for a line above 256 MiB.
  ReadResult read_line(std::string* line, base::Clock::time_point deadline);
  /// How a child that closed its output ended, in words: "crashed with signal 11 (Segmentation fault)".
  std::string describe_end();
  /// After describe_end(): it ended of its own defect, by a signal that nobody sends.
  bool crashed() const;
  /// After describe_end(): it exited with code 0.
  bool succeeded() const;
  /// The last non-empty line it wrote to standard error; empty when there is none.
  std::string last_error_line() const;
  void kill_group();

 private:
  void reap(int options);

  std::filesystem::path error_file_;
  const StopFlag* stop_;
  pid_t pid_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
  std::string buffer_;
  std::optional<int> status_;
};

}  // namespace hone::system
