// Runs a program with libhone-inject.so in it and every CUDA process that it starts, and gathers what they
// did.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace hone::trace {

struct RecordOptions {
  /// Records calls of the driver API too, which the runtime API is built on.
  bool driver_api = true;
  /// Records thread functions that block, and what lets others go on: nvprof's --cpu-thread-tracing.
  bool threads_api = false;
};

struct Recording {
  Trace trace;
  /// As a shell says it: the program's own code, or 128 and the number of the signal that ended it.
  int exit_code = 0;
  /// Processes that were recorded.
  size_t processes = 0;
};

/// The command is found through PATH when it has no slash; it has our terminal and standard streams. Ctrl-C
/// reaches the program alone: what it did until then is kept. Environment error when it cannot be started or
/// the collector was not built.
Recording record(const std::vector<std::string>& command, const RecordOptions& options);

}  // namespace hone::trace
