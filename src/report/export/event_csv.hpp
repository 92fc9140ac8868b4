// Every event of a trace as a line of CSV, with the columns of nvprof's --print-gpu-trace and
// --print-api-trace.
#pragma once

#include <functional>
#include <string_view>

#include "trace/trace.hpp"

namespace hone::report {

/// Takes one line after another, without its end: a trace has more of them than should be kept.
using LineSink = std::function<void(std::string_view)>;

/// Kernels, copies and sets in order of their start. The first line names the columns, the second their
/// units, as nvprof does; times are ns, the start since the first event of the trace. Cells are empty where
/// not recorded or of the other kind.
void gpu_trace_csv(const trace::Trace& trace, const LineSink& line);

/// Calls of the runtime and driver API, by thread and start.
void api_trace_csv(const trace::Trace& trace, const LineSink& line);

}  // namespace hone::report
