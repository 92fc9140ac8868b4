// Utilization of GPUs: utilization, SM efficiency and occupancy by the formulas of TensorBoard's profiler
// plugin, and the figures that counters measured. Every figure states its origin.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/intervals.hpp"
#include "base/json.hpp"

namespace hone::analysis {

enum class Origin : uint8_t {
  kMeasured,   ///< from times of events, instructions of kernels or counters
  kEstimated,  ///< from launch parameters of kernels
  kByName      ///< at least in part from names of kernels
};
std::string_view origin_name(Origin origin);

/// A share, 0 to 1.
struct Figure {
  double value = 0;
  Origin origin = Origin::kMeasured;
  double coverage = 1;  ///< share of the kernel time for which the needed data were recorded
};

/// Mean of a counter over the window.
struct CounterMean {
  std::string name;
  std::string unit;
  double mean = 0;  ///< weighted by time
  double min = 0;
  double max = 0;
  int64_t samples = 0;
};

/// One GPU in the window [S, E).
struct DeviceUsage {
  int32_t device = 0;
  std::string name;
  int64_t memory_bytes = 0;
  int32_t compute_major = 0;
  int32_t compute_minor = 0;
  int32_t multiprocessors = 0;
  int64_t kernels = 0;
  Time kernel_time = 0;  ///< sum, ns
  Time busy = 0;         ///< time in which at least one kernel ran, ns
  Figure utilization;    ///< busy / (E - S); copies and sets do not count
  /// Integral of min(blocks of running kernels / SMs, 1) over the window, divided by (E - S).
  std::optional<Figure> sm_efficiency;
  /// Sum of occupancy x duration / sum of durations; idle time is excluded. Uses recorded occupancies, else
  /// trace::estimated_occupancy.
  std::optional<Figure> occupancy;
  /// Time of kernels that use Tensor Cores / time of all kernels.
  Figure tensor_cores;
  /// Means over the whole window, including idle time.
  std::optional<Figure> measured_gr_active;
  std::optional<Figure> measured_sms_active;
  std::optional<Figure> measured_warps_active;
  std::optional<Figure> measured_tensor_active;
  std::vector<CounterMean> counters;
};

struct GpuUsage {
  Span window;
  std::vector<DeviceUsage> devices;
};

/// Returns the devices that are described in the trace or did something, in order of their ids.
GpuUsage analyze_gpu_usage(const trace::Trace& trace, Span window);

Json to_json(const GpuUsage& usage);

}  // namespace hone::analysis
