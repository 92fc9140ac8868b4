// Decides which part of the process is recorded: windows of time, and kernels by name. All activity is
// collected all the time, since enabling kinds of activity later stops a program for seconds; unwanted
// records are not written.
#pragma once

#include <cstdint>

namespace hone::trace::inject {

/// Reads the rules from the environment (trace/collect/capture.hpp). Call once, after open_writer().
void read_capture_rules();

/// True if cudaProfilerStart and cudaProfilerStop limit the recording.
bool is_bounded_by_profiler_api();
/// True if ranges of this name (a text id) limit the recording.
bool is_capture_range(uint32_t name);

/// Opens a window; it may be opened several times before it is closed.
void open_window();
void close_window();

/// True if a thread's activity between these times overlaps a window.
bool is_captured(uint64_t start, uint64_t end);
/// True for work of a GPU that may overlap a window: it may be launched in a window and run after it. The
/// reader of the file decides by the time of the launch.
bool may_be_captured(uint64_t start, uint64_t end);
/// True if a kernel of this name is wanted; `id` is the text id of the name.
bool is_kernel_wanted(const char* name, uint32_t id);

}  // namespace hone::trace::inject
