// Runs a program with libhone-inject.so in it and every CUDA process that it starts, and gathers what they
// did.
#pragma once

#include <string>
#include <vector>

#include "trace/collect/injection.hpp"
#include "trace/trace.hpp"

namespace hone::record {

struct Recording {
  trace::Trace trace;
  /// As a shell says it: the program's own code, or 128 and the number of the signal that ended it.
  int exit_code = 0;
  /// The signal that we were sent and passed on to the program; 0 for none.
  int passed_on = 0;
  /// Processes that were recorded.
  size_t processes = 0;
};

/// The command is found through PATH when it has no slash; it has our terminal and standard streams. Ctrl-C,
/// SIGTERM and SIGHUP reach the program and end only it: what it did until then is kept. Environment error
/// when it cannot be started or the collector is not installed, system::Interrupted when a signal came before
/// it was started.
Recording record_program(const std::vector<std::string>& command, const trace::InjectionOptions& options);

}  // namespace hone::record
