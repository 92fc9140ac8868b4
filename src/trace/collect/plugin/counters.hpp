// The thread that reads hardware counters of the GPUs that the process uses.
#pragma once

#include <cstdint>

namespace hone::trace::inject {

/// Starts the thread if $HONE_TRACE_COUNTERS, the number of samples per second, is set. Call once, after
/// CUPTI was loaded.
void start_counters();
/// Tells the thread that the process uses this GPU. CUPTI calls this, so it only notifies the thread.
void watch_device(uint32_t device);
/// Ends sampling and writes the remaining samples. Call before activities are flushed for the last time.
void stop_counters();

}  // namespace hone::trace::inject
