// The state of a GPU while a run was measured: a bounded series of samples, and the figures for the verdict.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "system/nvml.hpp"

namespace hone::bench {

/// Bits of nvmlClocksEventReasons.
enum class ClockReason : uint64_t {
  kIdle = 0x1,
  kApplicationClocks = 0x2,
  kSwPowerCap = 0x4,
  kHwSlowdown = 0x8,
  kSyncBoost = 0x10,
  kSwThermalSlowdown = 0x20,
  kHwThermalSlowdown = 0x40,
  kHwPowerBrake = 0x80,
  kDisplayClocks = 0x100,
};

/// Names such as "HW thermal slowdown", for every bit that is set.
std::vector<std::string> clock_reason_names(uint64_t reasons);

class GpuConditions {
 public:
  /// Limit on the samples of one run. Each time it is reached, every second sample is dropped and the
  /// sampling rate is halved.
  static constexpr size_t kMostSamples = 1024;

  /// Why nothing was watched; empty if something was.
  std::string unknown;
  /// The largest number of processes at one time, besides the workers of the sweep; absent if the library
  /// does not list processes.
  std::optional<int> other_processes;
  /// The largest amount of GPU memory that the run's worker used.
  std::optional<int64_t> process_memory_bytes;

  void add(const system::GpuSample& sample, double cost_ms);
  void saw_clock_reasons(uint64_t reasons) { clock_reasons_ |= reasons; }
  void saw_processes(std::optional<int> others, std::optional<int64_t> worker_bytes);

  int64_t taken() const { return taken_; }
  const std::vector<system::GpuSample>& samples() const { return samples_; }
  /// The clock reasons of all samples, including those that were dropped.
  uint64_t clock_reasons() const { return clock_reasons_; }

  struct ClockHalves {
    double first_mhz = 0;
    double second_mhz = 0;
    double change() const { return second_mhz / first_mhz - 1; }
  };
  /// Median SM clocks of the first and second half of the samples; nothing if either half has fewer than
  /// three.
  std::optional<ClockHalves> sm_clock_halves() const;

  /// Figures and series, as described for `machine.gpu` in docs/BENCHMARK.md.
  Json to_json() const;

 private:
  std::vector<system::GpuSample> samples_;
  int64_t taken_ = 0;
  int64_t stride_ = 1;
  uint64_t clock_reasons_ = 0;
  double cost_ms_ = 0;
};

/// The processes on a GPU during a sweep.
struct GpuTenants {
  /// Absent if the list is too short to contain all workers, because it then hides processes.
  std::optional<int> others;
  std::optional<int64_t> worker_bytes;
};

/// `is_own` and `is_worker` are called for each process id; `is_worker` is about the worker that is being
/// measured. If the list contains no id of the `live_workers` workers, its ids belong to another namespace,
/// and that many of its entries count as workers.
GpuTenants count_tenants(std::span<const system::GpuProcess> listed, const std::function<bool(pid_t)>& is_own,
                         const std::function<bool(pid_t)>& is_worker, int live_workers);

}  // namespace hone::bench
