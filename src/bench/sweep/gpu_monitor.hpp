// Watches a GPU through NVML during a measurement. A thread of the benchmark's own process takes the samples
// and sleeps in between, so the measured worker is not disturbed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "bench/results/gpu_conditions.hpp"
#include "system/nvml.hpp"

namespace hone::bench {

class GpuMonitor {
 public:
  struct Timing {
    /// The clocks of an idle GPU rise at once under load, so the first sample is taken after this delay.
    std::chrono::milliseconds first = std::chrono::milliseconds(10);
    std::chrono::milliseconds interval = std::chrono::milliseconds(50);
  };

  explicit GpuMonitor(std::string library = system::Nvml::library_path())
      : GpuMonitor(std::move(library), Timing()) {}
  GpuMonitor(std::string library, Timing timing) : library_(std::move(library)), timing_(timing) {}

  /// Call it when a worker has created its context on the GPU at `bus_id` (empty: the first GPU). The first
  /// worker decides which GPU is watched.
  void add_worker(pid_t worker, const std::string& bus_id);
  void remove_worker(pid_t worker) { live_workers_.erase(worker); }

  /// Nothing before the first worker, and without NVML.
  std::optional<system::GpuIdentity> identity() const;
  /// Why nothing can be watched; empty if the GPU is watched.
  const std::string& unknown() const { return unknown_; }

 private:
  friend class GpuWatch;

  bool is_own(pid_t process) const;

  std::string library_;
  Timing timing_;
  std::unique_ptr<system::Nvml> nvml_;
  std::string unknown_;
  /// Process groups of all workers so far, and of those that are alive.
  std::set<pid_t> workers_;
  std::set<pid_t> live_workers_;
};

/// Adds samples to a run's conditions during its lifetime, and one at its end.
class GpuWatch {
 public:
  enum class Scope {
    kAll,
    kDisturbances,  ///< only slowdowns of the GPU and other processes, because work and memory are not those
                    ///< of the latencies
  };
  /// `start` is the begin of the first watch of the run. If `monitor` is null, nothing happens.
  GpuWatch(GpuMonitor* monitor, GpuConditions* conditions, pid_t worker, base::Clock::time_point start,
           Scope scope = Scope::kAll);
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

 private:
  void take();
  void watch(const std::stop_token& stop);

  GpuMonitor* monitor_;
  GpuConditions* conditions_;
  pid_t worker_;
  base::Clock::time_point start_;
  Scope scope_;
  std::jthread thread_;
};

}  // namespace hone::bench
