// A program that runs in our place for a while, with our terminal and standard streams.
#pragma once

#include <string>
#include <vector>

namespace hone::system {

/// Why this cannot be started, in words; empty when it can. It is found through PATH when it has no slash.
std::string why_not_startable(const std::string& program);

struct ForegroundEnd {
  /// As a shell says it: the program's own code, or 128 and the number of the signal that ended it.
  int exit_code = 0;
  /// The last signal that was sent to us and passed on; 0 for none.
  int passed_on = 0;
};

/// Runs the command to its end. Ctrl-C on the terminal reaches it without us and does not end us; signals
/// that another process sends to us (SIGINT, SIGQUIT, SIGTERM, SIGHUP) are passed on. Interrupted when we
/// were asked to end before it began, environment error when it cannot be started.
ForegroundEnd run_in_foreground(const std::vector<std::string>& command);

}  // namespace hone::system
