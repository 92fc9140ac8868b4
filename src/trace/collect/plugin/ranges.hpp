// The NVTX ranges that threads have open.
#pragma once

#include <cstdint>
#include <string_view>

namespace hone::trace::inject {

/// Opens a range on this thread; returns the number that were open before.
int push_range(uint32_t domain, uint32_t name);
/// Closes the innermost range of the domain and records it; returns the number that are still open, or -1 if
/// none was open.
int pop_range(uint32_t domain);
/// Opens a range that any thread may close.
uint64_t start_range(uint32_t name);
void end_range(uint64_t id);
/// The text id of the innermost range of this thread; 0 if there is none.
uint32_t innermost_range();
/// Writes the closed ranges gathered so far.
void flush_ranges();

}  // namespace hone::trace::inject
