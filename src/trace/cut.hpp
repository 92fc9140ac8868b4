// Limits a trace to windows of time.
#pragma once

#include <vector>

#include "trace/trace.hpp"

namespace hone::trace {

/// Keeps the events in the windows (ordered and disjoint): host events that overlap a window, and device
/// events that overlap one or were launched by a call that is kept. API calls and device events stay whole;
/// ranges and similar events that extend beyond the windows are cut to them. Descriptive tables (threads,
/// streams, graphs, steps) stay whole. Removed events are not counted as losses, since the removal was
/// requested.
void cut(Trace& trace, const std::vector<Span>& windows);

/// The trace of one window, for analyses whose times must add up to its length: cut(), and then all events
/// are limited to the window. Calls before the window that launched work in it are kept with no duration at
/// its begin.
Trace clipped(const Trace& trace, Span window);

}  // namespace hone::trace
