// Runs a program in the foreground, with hone's terminal and standard streams.
#pragma once

#include <string>
#include <vector>

namespace hone::system {

/// Why it cannot be started, in words; empty if it can. It is searched in PATH if it has no slash.
std::string why_not_startable(const std::string& program);

struct ForegroundEnd {
  /// As in a shell: the program's own exit code, or 128 plus the number of the signal that ended it.
  int exit_code = 0;
  /// The last signal that was sent to hone and passed on; 0: none.
  int passed_on = 0;
};

/// Runs the command to its end. Ctrl-C on the terminal reaches it directly and does not end hone; signals
/// that another process sends to hone (SIGINT, SIGQUIT, SIGTERM, SIGHUP) are passed on. Throws Interrupted if
/// hone was asked to end before the start; environment error if it cannot be started.
ForegroundEnd run_in_foreground(const std::vector<std::string>& command);

}  // namespace hone::system
