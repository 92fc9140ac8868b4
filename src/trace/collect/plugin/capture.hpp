// Decides which part of the process is wanted: windows of time, and kernels by name. Everything is collected
// all the time, since switching kinds of activity on late stops a program for seconds; what is not wanted is
// not written.
#pragma once

#include <cstdint>

namespace hone::trace::inject {

/// Reads the rules out of the environment (trace/collect/capture.hpp). Call once, after open_writer().
void read_capture_rules();

/// True if cudaProfilerStart and cudaProfilerStop bound what is recorded.
bool is_bounded_by_profiler_api();
/// True if ranges of this name (a text id) bound what is recorded.
bool is_capture_range(uint32_t name);

/// Starts a window; windows may be open several times over.
void open_window();
void close_window();

/// True if a thread's activity in that time overlaps a window.
bool is_captured(uint64_t start, uint64_t end);
/// True for work of a GPU that may overlap a window: it may be launched in one and run after it. Whoever
/// reads the file decides by the launch.
bool may_be_captured(uint64_t start, uint64_t end);
/// True if a kernel of this name, whose text id it is, is wanted.
bool is_kernel_wanted(const char* name, uint32_t id);

}  // namespace hone::trace::inject
