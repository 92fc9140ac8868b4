// Loads libhone-inject.so into a program, and finds the files that it has written.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/collect/capture.hpp"
#include "trace/collect/metrics.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

struct InjectionOptions {
  /// Also records calls of the driver API, on which the runtime API is built.
  bool driver_api = true;
  /// Records thread functions that block, and the calls that let other threads continue, like
  /// --cpu-thread-tracing of nvprof.
  bool threads_api = false;
  /// Samples of hardware counters per second; 0: none.
  double counter_rate = 0;
  /// Metrics to measure for each launch of a kernel. If there are any, nothing else of the GPU is recorded:
  /// kernels run one by one, once for each pass.
  std::vector<WantedMetric> metrics;
  /// Launches are measured while this file exists; if the path is empty, all launches are measured.
  std::filesystem::path metrics_while = {};
  CaptureOptions capture;
};

/// The environment variables that make every CUDA process write its record into `folder`, as NAME=VALUE.
/// Times of the capture count from this call. Throws an environment error if the collector is not installed.
std::vector<std::string> injection_variables(const std::filesystem::path& folder,
                                             const InjectionOptions& options);

/// The command, preceded by what sets these variables for it.
std::vector<std::string> injected_command(const std::vector<std::string>& command,
                                          const std::filesystem::path& folder,
                                          const InjectionOptions& options);

/// The variable that preloads libhone-threads.so, so that its thread functions replace those of the program;
/// libraries that are already preloaded are kept. Throws an environment error if the library is not installed
/// or lies in a place from which it cannot be preloaded.
std::string preload_variable();

/// The files in the folder: one for each process, and one more for its threads.
std::vector<std::filesystem::path> injected_files(const std::filesystem::path& folder);
/// Number of processes that wrote these files.
size_t process_count(const std::vector<std::filesystem::path>& files);
/// Merges all files into one normalized trace.
Trace read_injected(const std::filesystem::path& folder);

}  // namespace hone::trace
