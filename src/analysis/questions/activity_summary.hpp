// The tables of nvprof and `nsys stats`: GPU activities, API calls and announced ranges, each with its count
// and times.
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
  /// The launch shape of kernels, if rows are separated by it.
  std::optional<trace::KernelLaunch> launch;
  Time total = 0;
  double share = 0;     ///< share of the total of its table, 0 to 1
  base::Summary times;  ///< n is the number of calls
  /// For kernels: whether kernels with more than half of the time use Tensor Cores, and whether that was
  /// derived from a name. Means are weighted by time, over launches with known properties of launch and
  /// device.
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

  /// Bytes per second while they ran; 0 if they took no time.
  double rate() const { return busy > 0 ? static_cast<double>(bytes) * 1e9 / static_cast<double>(busy) : 0; }
};

/// Each table is ordered by total time, longest first.
struct ActivitySummary {
  Span window;
  std::vector<Activity> gpu;           ///< kernels, copies by direction, sets
  std::vector<Activity> calls;         ///< of the runtime and driver API
  std::vector<Activity> ranges;        ///< NVTX ranges and record_function, including steps
  std::vector<Activity> thread_calls;  ///< calls in which threads wait for each other: mutexes, joins
  std::vector<Volume> volumes;
};

struct SummaryOptions {
  bool base_names = false;       ///< groups kernels by the function's own name, without template arguments
  bool by_launch_shape = false;  ///< separates kernels by grid and block
};

/// Summarizes the events that start in the window.
ActivitySummary summarize_activities(const trace::Trace& trace, Span window,
                                     const SummaryOptions& options = {});

Json to_json(const ActivitySummary& summary);

}  // namespace hone::analysis
