// Windows of a trace.
#pragma once

#include <vector>

#include "trace/trace.hpp"

namespace hone::trace {

/// Keeps what happened in the windows (ordered, apart from each other): host events that overlap one, and
/// device events that overlap one or were launched by a call that is kept. API calls and device events stay
/// whole; ranges and the like that reach out of the windows are cut to them. Tables that describe (threads,
/// streams, graphs, steps) stay whole. Not counted as losses: it was asked for.
void cut(Trace& trace, const std::vector<Span>& windows);

/// A trace of a window only, for analyses whose times have to add up to it: cut(), and then everything ends
/// where the window does. Calls that launched before it what ran in it are kept as moments at its begin.
Trace clipped(const Trace& trace, Span window);

}  // namespace hone::trace
