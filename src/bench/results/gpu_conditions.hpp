// The state of a GPU while a run was measured: a bounded series of samples, and the figures that a verdict
// needs.
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

/// "HW thermal slowdown", for every bit that is set.
std::vector<std::string> clock_reason_names(uint64_t reasons);

class GpuConditions {
 public:
  /// Samples kept of one run; beyond it, every other one is dropped and only every second is taken from then
  /// on.
  static constexpr size_t kMostSamples = 1024;

  /// Why nothing was watched; empty when something was.
  std::string unknown;
  /// The most at one time, besides the workers of the sweep; absent when the library does not list processes.
  std::optional<int> other_processes;
  /// The most that the run's worker took of the GPU's memory.
  std::optional<int64_t> process_memory_bytes;

  void add(const system::GpuSample& sample, double cost_ms);
  void saw_clock_reasons(uint64_t reasons) { clock_reasons_ |= reasons; }
  void saw_processes(std::optional<int> others, std::optional<int64_t> worker_bytes);

  int64_t taken() const { return taken_; }
  const std::vector<system::GpuSample>& samples() const { return samples_; }
  /// The reasons in all samples, including those that were dropped.
  uint64_t clock_reasons() const { return clock_reasons_; }

  struct ClockHalves {
    double first_mhz = 0;
    double second_mhz = 0;
    double change() const { return second_mhz / first_mhz - 1; }
  };
  /// Median SM clocks of the first and second half of the samples; nothing for fewer than three in each.
  std::optional<ClockHalves> sm_clock_halves() const;

  /// Figures and series, as docs/BENCHMARK.md describes `machine.gpu`.
  Json to_json() const;

 private:
  std::vector<system::GpuSample> samples_;
  int64_t taken_ = 0;
  int64_t stride_ = 1;
  uint64_t clock_reasons_ = 0;
  double cost_ms_ = 0;
};

/// The processes on a GPU, as a sweep sees them whose workers the caller knows.
struct GpuTenants {
  /// Absent when the list is shorter than it must be, so that it hides processes.
  std::optional<int> others;
  std::optional<int64_t> worker_bytes;
};

/// `is_own` and `is_worker` are asked for each process id; the second about the worker being measured. If no
/// worker of `live_workers` is listed under one of its ids, the list is in the ids of another namespace, and
/// that many of its entries are taken to be the workers.
GpuTenants count_tenants(std::span<const system::GpuProcess> listed, const std::function<bool(pid_t)>& is_own,
                         const std::function<bool(pid_t)>& is_worker, int live_workers);

}  // namespace hone::bench
