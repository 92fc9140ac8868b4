// See gpu_monitor.hpp.
#include "bench/sweep/gpu_monitor.hpp"

#include <unistd.h>

#include <condition_variable>
#include <mutex>

#include "base/error.hpp"

namespace hone::bench {

void GpuMonitor::add_worker(pid_t worker, const std::string& bus_id) {
  workers_.insert(worker);
  live_workers_.insert(worker);
  if (nvml_ != nullptr || !unknown_.empty()) return;
  try {
    nvml_ = std::make_unique<system::Nvml>(library_, bus_id);
  } catch (const Error& error) {
    unknown_ = error.what();
  }
}

std::optional<system::GpuIdentity> GpuMonitor::identity() const {
  return nvml_ != nullptr ? std::optional(nvml_->identity()) : std::nullopt;
}

bool GpuMonitor::is_own(pid_t process) const {
  // A worker leads a process group, which identifies the processes that it starts.
  return process == ::getpid() || workers_.contains(process) || workers_.contains(::getpgid(process));
}

GpuWatch::GpuWatch(GpuMonitor* monitor, GpuConditions* conditions, pid_t worker,
                   base::Clock::time_point start, Scope scope)
    : monitor_(monitor), conditions_(conditions), worker_(worker), start_(start), scope_(scope) {
  if (monitor_ == nullptr) return;
  conditions_->unknown = monitor_->unknown();
  if (monitor_->nvml_ != nullptr)
    thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

GpuWatch::~GpuWatch() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  take();
}

void GpuWatch::watch(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  auto wait = monitor_->timing_.first;
  // In libstdc++, a wait whose stop is requested just as it begins returns false, so stop_requested() is
  // checked again.
  while (!wake.wait_for(lock, stop, wait, [&] { return stop.stop_requested(); }) && !stop.stop_requested()) {
    take();
    wait = monitor_->timing_.interval;
  }
}

void GpuWatch::take() {
  const auto before = base::Clock::now();
  system::GpuSample sample = monitor_->nvml_->sample();
  const auto processes = monitor_->nvml_->processes();
  sample.seconds = base::seconds_between(start_, before);
  if (scope_ == Scope::kAll)
    conditions_->add(sample, base::milliseconds_between(before, base::Clock::now()));
  else
    conditions_->saw_clock_reasons(sample.clock_reasons.value_or(0));
  if (!processes) return;
  const GpuTenants tenants = count_tenants(
      *processes, [this](pid_t pid) { return monitor_->is_own(pid); },
      [this](pid_t pid) { return pid == worker_ || ::getpgid(pid) == worker_; },
      static_cast<int>(monitor_->live_workers_.size()));
  conditions_->saw_processes(tenants.others,
                             scope_ == Scope::kAll ? tenants.worker_bytes : std::optional<int64_t>());
}

}  // namespace hone::bench
