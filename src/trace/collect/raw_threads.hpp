// Translates records of libhone-threads.so to events of a trace.
#pragma once

#include "trace/collect/raw_records.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

/// Adds the call and its effect on other threads. Threads are indices into Trace::threads; `unlocked_by` is
/// -1 if no unlock was seen.
void add_thread_call(Trace& trace, const raw::ThreadCall& from, int32_t thread, int32_t unlocked_by);

}  // namespace hone::trace
