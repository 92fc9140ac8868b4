// When the profiler itself was at work.
#pragma once

#include "analysis/intervals.hpp"
#include "trace/trace.hpp"

namespace hone::analysis {

/// Overheads that are the profiler's own work. The driver's own work (a full queue, lazy loading, compiling)
/// is recorded as overhead too and would be there without it.
Intervals profiler_overhead(const trace::Trace& trace);

}  // namespace hone::analysis
