// Writes every event of a trace as a line of CSV, with the columns of nvprof's --print-gpu-trace and
// --print-api-trace.
#pragma once

#include <functional>
#include <string_view>

#include "trace/trace.hpp"

namespace hone::report {

/// Receives one line at a time, without the line end, because all lines of a trace together may be too large
/// for memory.
using LineSink = std::function<void(std::string_view)>;

/// Writes kernels, copies and sets in order of their start. As in nvprof, the first line holds the column
/// names and the second the units. Times are in ns; starts count from the first event of the trace. Cells are
/// empty if the value was not recorded or does not apply.
void gpu_trace_csv(const trace::Trace& trace, const LineSink& line);

/// Writes calls of the runtime and driver API, sorted by thread and start.
void api_trace_csv(const trace::Trace& trace, const LineSink& line);

}  // namespace hone::report
