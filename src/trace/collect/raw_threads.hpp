// What libhone-threads.so recorded, in the words of a trace.
#pragma once

#include "trace/collect/raw_records.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

/// Adds the call, and what it means for other threads. `thread` is an index into Trace::threads.
void add_thread_call(Trace& trace, const raw::ThreadCall& from, int32_t thread);

}  // namespace hone::trace
