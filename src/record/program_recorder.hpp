// Runs a program with libhone-inject.so in it and in every CUDA process that it starts, and collects the
// recordings.
#pragma once

#include <string>
#include <vector>

#include "trace/collect/injection.hpp"
#include "trace/trace.hpp"

namespace hone::record {

struct Recording {
  trace::Trace trace;
  /// As in a shell: the program's own exit code, or 128 plus the number of the signal that ended it.
  int exit_code = 0;
  /// The signal that was sent to hone and passed on to the program; 0: none.
  int passed_on = 0;
  /// Number of recorded processes.
  size_t processes = 0;
};

/// The command is searched in PATH if it has no slash; it uses hone's terminal and standard streams. Ctrl-C,
/// SIGTERM and SIGHUP reach the program and end only it; the recording until then is kept. Environment error
/// if it cannot be started or the collector is not installed; system::Interrupted if a signal arrived before
/// the start.
Recording record_program(const std::vector<std::string>& command, const trace::InjectionOptions& options);

}  // namespace hone::record
