// The tables of nvprof and `nsys stats`: what the GPU did, which API calls were made, which ranges were
// announced, each with its count and its times.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analysis/intervals.hpp"
#include "base/json.hpp"
#include "base/statistics.hpp"

namespace hone::analysis {

enum class ActivityKind : uint8_t { kKernel, kCopy, kSet, kApi, kRange, kThread };
std::string_view activity_kind_name(ActivityKind kind);

/// All events of one name. Times in ns.
struct Activity {
  ActivityKind kind = ActivityKind::kKernel;
  std::string name;
  /// The launch shape of kernels, if rows are told apart by it.
  std::optional<trace::KernelLaunch> launch;
  Time total = 0;
  double share = 0;     ///< of the total of its table, 0 to 1
  base::Summary times;  ///< n is the number of calls
  /// For kernels: whether those with more than half of the time use Tensor Cores, and whether that was read
  /// from a name; means weighted by time, where the trace has launches and the device.
  bool tensor_cores = false;
  bool tensor_cores_by_name = true;
  std::optional<double> blocks_per_sm = std::nullopt;
  std::optional<double> occupancy = std::nullopt;  ///< 0 to 1
};

/// Copies of one direction, or all sets.
struct Volume {
  ActivityKind kind = ActivityKind::kCopy;
  trace::CopyDirection direction = trace::CopyDirection::kUnknown;
  int64_t bytes = 0;
  Time busy = 0;        ///< time in which at least one of them ran, ns
  base::Summary sizes;  ///< bytes each

  /// Bytes per second while they ran; 0 when they took no time.
  double rate() const { return busy > 0 ? static_cast<double>(bytes) * 1e9 / static_cast<double>(busy) : 0; }
};

/// Each table is ordered by total time, longest first.
struct ActivitySummary {
  Span window;
  std::vector<Activity> gpu;           ///< kernels, copies by direction, sets
  std::vector<Activity> calls;         ///< of the runtime and driver API
  std::vector<Activity> ranges;        ///< NVTX ranges and record_function, steps among them
  std::vector<Activity> thread_calls;  ///< in which threads wait for each other: mutexes, joins
  std::vector<Volume> volumes;
};

struct SummaryOptions {
  bool base_names = false;       ///< kernels by the function's own name, whatever its template arguments
  bool by_launch_shape = false;  ///< kernels also by grid and block
};

/// Events that start in the window.
ActivitySummary summarize_activities(const trace::Trace& trace, Span window,
                                     const SummaryOptions& options = {});

Json to_json(const ActivitySummary& summary);

}  // namespace hone::analysis
