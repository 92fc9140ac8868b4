// A child process that communicates in lines: its standard input and output are connected to this process,
// its standard error goes to a file. Every wait has a deadline, so a child that hangs or dies never blocks
// the parent.
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
  /// Starts the program (searched in PATH if it has no slash) in its own process group. Without a stop flag,
  /// the interruption of the whole command (interruption.hpp) ends waits. Environment error if it cannot be
  /// started.
  Process(const std::vector<std::string>& command, std::filesystem::path error_file, const StopFlag* stop);
  /// Kills the whole process group.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  /// Returns false if the child has closed its end.
  bool send_line(std::string_view line);
  enum class ReadResult { kLine, kEnd, kTimeout };
  /// The next line without its newline. Environment error for a line of more than 256 MiB.
  ReadResult read_line(std::string* line, base::Clock::time_point deadline);
  /// Describes how a child that closed its output ended: "crashed with signal 11 (Segmentation fault)".
  std::string describe_end();
  /// After describe_end(): true if it ended because of its own defect, by a signal that nobody sends.
  bool crashed() const;
  /// After describe_end(): true if it exited with code 0.
  bool succeeded() const { return exit_code() == 0; }
  /// After describe_end(): nothing if it did not exit by itself.
  std::optional<int> exit_code() const;
  /// The last non-empty line that it wrote to standard error; empty if there is none.
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
