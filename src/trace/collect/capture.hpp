// Options that select the part of a program that is recorded.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace hone::trace {

/// Without any option, the whole program is recorded. The recording is limited either by times or by a range,
/// not by both.
struct CaptureOptions {
  double delay_s = 0;  ///< time from the start of the command before which nothing is recorded
  double duration_s =
      0;  ///< length of the recording after the delay; 0: to the end. The program itself continues.
  /// "cudaProfilerApi": between cudaProfilerStart and cudaProfilerStop. "nvtx:NAME": while a thread is in a
  /// range of this name.
  std::string range;
  /// Regular expression (ECMAScript): only kernels whose names contain a match are recorded. Empty: all
  /// kernels.
  std::string kernels;
};

/// Throws a usage error that names the option if one is wrong or two contradict each other.
void check_capture(const CaptureOptions& options);

/// The environment variables for libhone-inject.so, as NAME=VALUE, for a command that starts at `now`
/// (monotonic nanoseconds).
std::vector<std::string> capture_variables(const CaptureOptions& options, Time now);

/// Adds notes to the trace about the parts that were left out on request, and a note if the range was never
/// entered.
void note_capture(const CaptureOptions& options, Trace& trace);

}  // namespace hone::trace
