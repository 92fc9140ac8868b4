// Watches a GPU through NVML while configurations are measured. Samples are taken by a thread of the
// benchmark's own process, which sleeps in between, so the worker that is being measured does nothing for
// them.
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
    /// The clocks of a GPU that was idle rise at once; what they were before is not what was measured with.
    std::chrono::milliseconds first = std::chrono::milliseconds(10);
    std::chrono::milliseconds interval = std::chrono::milliseconds(50);
  };

  explicit GpuMonitor(std::string library = system::Nvml::library_path())
      : GpuMonitor(std::move(library), Timing()) {}
  GpuMonitor(std::string library, Timing timing) : library_(std::move(library)), timing_(timing) {}

  /// A worker has made its context on the GPU at `bus_id` (empty: the first one). The first worker decides
  /// which GPU is watched.
  void add_worker(pid_t worker, const std::string& bus_id);
  void remove_worker(pid_t worker) { live_workers_.erase(worker); }

  /// Nothing before the first worker, and where there is no NVML.
  std::optional<system::GpuIdentity> identity() const;
  /// Why nothing can be watched; empty when it can.
  const std::string& unknown() const { return unknown_; }

 private:
  friend class GpuWatch;

  bool is_own(pid_t process) const;

  std::string library_;
  Timing timing_;
  std::unique_ptr<system::Nvml> nvml_;
  std::string unknown_;
  /// Process groups: of all workers ever, and of those alive.
  std::set<pid_t> workers_;
  std::set<pid_t> live_workers_;
};

/// Adds samples to a run's conditions as long as it lives, and one when it ends.
class GpuWatch {
 public:
  enum class Scope {
    kAll,
    kDisturbances,  ///< what slowed the GPU and who else was there: work and memory are not those of
                    ///< latencies
  };
  /// `start`: when the first watch of the run began. No monitor: nothing happens.
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
