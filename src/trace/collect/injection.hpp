// How a program gets libhone-inject.so, and where what it wrote is found.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/collect/capture.hpp"
#include "trace/collect/metrics.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

struct InjectionOptions {
  /// Records calls of the driver API too, which the runtime API is built on.
  bool driver_api = true;
  /// Records thread functions that block, and what lets others go on: nvprof's --cpu-thread-tracing.
  bool threads_api = false;
  /// How often a second hardware counters are sampled; 0: not at all.
  double counter_rate = 0;
  /// Metrics to measure for each launch of a kernel. Nothing else of the GPU is recorded then: kernels run
  /// one by one, once for each pass.
  std::vector<WantedMetric> metrics;
  /// Launches are measured while this file is there; always when it is empty.
  std::filesystem::path metrics_while = {};
  CaptureOptions capture;
};

/// The variables that make every CUDA process write what it does into `folder`, as NAME=VALUE. Times of the
/// capture count from this call. Environment error when the collector is not installed.
std::vector<std::string> injection_variables(const std::filesystem::path& folder,
                                             const InjectionOptions& options);

/// The command with these variables set for it.
std::vector<std::string> injected_command(const std::vector<std::string>& command,
                                          const std::filesystem::path& folder,
                                          const InjectionOptions& options);

/// The variable that puts libhone-threads.so before the thread functions of a program, in addition to
/// libraries that are preloaded anyway. Environment error when it is not installed or lies where it cannot be
/// preloaded from.
std::string preload_variable();

/// The files in the folder, one a process and one more for its threads.
std::vector<std::filesystem::path> injected_files(const std::filesystem::path& folder);
/// How many processes wrote them.
size_t process_count(const std::vector<std::filesystem::path>& files);
/// All of them as one normalized trace.
Trace read_injected(const std::filesystem::path& folder);

}  // namespace hone::trace
