// The thread that reads hardware counters of the GPUs that the process uses.
#pragma once

#include <cstdint>

namespace hone::trace::inject {

/// Counters are wanted: $HONE_TRACE_COUNTERS is how often a second they are sampled. Call once, after CUPTI
/// was loaded.
void start_counters();
/// The process uses this GPU from now on. Called from CUPTI, so it only notifies the thread.
void watch_device(uint32_t device);
/// Ends sampling and writes what is left. To be called before activities are flushed for the last time.
void stop_counters();

}  // namespace hone::trace::inject
