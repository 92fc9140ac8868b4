// The times at which the profiler itself worked.
#pragma once

#include "analysis/intervals.hpp"
#include "trace/trace.hpp"

namespace hone::analysis {

/// Overheads that are the profiler's own work. The driver's own work (a full queue, lazy loading, compiling)
/// is also recorded as overhead, but would happen without the profiler too, so it is excluded.
Intervals profiler_overhead(const trace::Trace& trace);

}  // namespace hone::analysis
