// Which part of a program is recorded.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace hone::trace {

/// All of it when nothing is set. Either times or a range limit it.
struct CaptureOptions {
  double delay_s = 0;     ///< nothing before, counted from the start of the command
  double duration_s = 0;  ///< nothing after so long from then; 0: to the end. The program itself goes on.
  /// "cudaProfilerApi": between cudaProfilerStart and cudaProfilerStop. "nvtx:NAME": while a thread is in a
  /// range of this name.
  std::string range;
  /// Regular expression (ECMAScript); only kernels in whose names it is found. Empty: all.
  std::string kernels;
};

/// Usage error that names the option when one is wrong or two contradict each other.
void check_capture(const CaptureOptions& options);

/// The variables for libhone-inject.so, as NAME=VALUE, for a command that starts at `now` (monotonic
/// nanoseconds).
std::vector<std::string> capture_variables(const CaptureOptions& options, Time now);

/// Says in the trace what was left out on request, and when the range was never entered.
void note_capture(const CaptureOptions& options, Trace& trace);

}  // namespace hone::trace
