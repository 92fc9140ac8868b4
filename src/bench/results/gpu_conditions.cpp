// See gpu_conditions.hpp.
#include "bench/results/gpu_conditions.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/statistics.hpp"

namespace hone::bench {
namespace {

constexpr double kMegabyte = 1e6;
constexpr size_t kFewestInHalf = 3;

constexpr std::array<std::pair<ClockReason, const char*>, 9> kReasonNames = {{
    {ClockReason::kIdle, "idle"},
    {ClockReason::kApplicationClocks, "application clocks"},
    {ClockReason::kSwPowerCap, "SW power cap"},
    {ClockReason::kHwSlowdown, "HW slowdown"},
    {ClockReason::kSyncBoost, "sync boost"},
    {ClockReason::kSwThermalSlowdown, "SW thermal slowdown"},
    {ClockReason::kHwThermalSlowdown, "HW thermal slowdown"},
    {ClockReason::kHwPowerBrake, "HW power brake"},
    {ClockReason::kDisplayClocks, "display clocks"},
}};

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json megabytes(const std::optional<int64_t>& bytes) {
  return bytes ? Json(static_cast<double>(*bytes) / kMegabyte) : Json(nullptr);
}

/// Adds one figure over all samples that have it: its series, and its smallest, median and largest value.
template <class F>
void add_figure(const std::vector<system::GpuSample>& samples, const char* name, const F& figure,
                Json* summary, Json* series) {
  Json values = Json::array();
  std::vector<double> known;
  for (const system::GpuSample& sample : samples) {
    values.push_back(figure(sample));
    if (values.back().is_number()) known.push_back(values.back().template get<double>());
  }
  (*series)[name] = std::move(values);
  if (known.empty()) {
    (*summary)[name] = nullptr;
    return;
  }
  const base::Summary s = base::summarize(std::move(known));
  (*summary)[name] = {{"min", s.min}, {"p50", s.p50}, {"max", s.max}};
}

}  // namespace

std::vector<std::string> clock_reason_names(uint64_t reasons) {
  std::vector<std::string> names;
  for (const auto& [reason, name] : kReasonNames) {
    if ((reasons & static_cast<uint64_t>(reason)) != 0) names.emplace_back(name);
  }
  return names;
}

void GpuConditions::add(const system::GpuSample& sample, double cost_ms) {
  saw_clock_reasons(sample.clock_reasons.value_or(0));
  cost_ms_ += cost_ms;
  if (taken_++ % stride_ != 0) return;
  samples_.push_back(sample);
  if (samples_.size() < kMostSamples) return;
  for (size_t i = 0; 2 * i < samples_.size(); ++i) samples_[i] = samples_[2 * i];
  samples_.resize((samples_.size() + 1) / 2);
  stride_ *= 2;
}

void GpuConditions::saw_processes(std::optional<int> others, std::optional<int64_t> worker_bytes) {
  if (others) other_processes = std::max(other_processes.value_or(0), *others);
  if (worker_bytes) process_memory_bytes = std::max(process_memory_bytes.value_or(0), *worker_bytes);
}

std::optional<GpuConditions::ClockHalves> GpuConditions::sm_clock_halves() const {
  std::vector<double> clocks;
  for (const system::GpuSample& sample : samples_) {
    if (sample.sm_mhz) clocks.push_back(*sample.sm_mhz);
  }
  const size_t half = clocks.size() / 2;
  if (half < kFewestInHalf) return std::nullopt;
  const auto length = static_cast<std::ptrdiff_t>(half);
  return ClockHalves{base::median({clocks.begin(), clocks.begin() + length}),
                     base::median({clocks.end() - length, clocks.end()})};
}

Json GpuConditions::to_json() const {
  if (!unknown.empty()) return {{"unknown", unknown}};
  Json summary = Json::object();
  Json series = Json::object();
  const auto figure = [&](const char* name, const auto& get) {
    add_figure(samples_, name, get, &summary, &series);
  };
  figure("sm_mhz", [](const system::GpuSample& s) { return or_null(s.sm_mhz); });
  figure("memory_mhz", [](const system::GpuSample& s) { return or_null(s.memory_mhz); });
  figure("power_w", [](const system::GpuSample& s) { return or_null(s.power_w); });
  figure("temperature_c", [](const system::GpuSample& s) { return or_null(s.temperature_c); });
  figure("memory_used_mb", [](const system::GpuSample& s) { return megabytes(s.memory_used_bytes); });
  figure("utilization_percent", [](const system::GpuSample& s) { return or_null(s.utilization); });
  Json seconds = Json::array();
  Json reasons = Json::array();
  for (const system::GpuSample& sample : samples_) {
    seconds.push_back(sample.seconds);
    reasons.push_back(or_null(sample.clock_reasons));
  }
  series["seconds"] = std::move(seconds);
  series["clock_reasons"] = std::move(reasons);
  summary["taken"] = taken_;
  summary["cost_ms"] = taken_ > 0 ? Json(cost_ms_ / static_cast<double>(taken_)) : Json(nullptr);
  summary["clock_reasons"] = clock_reason_names(clock_reasons_);
  summary["other_processes"] = or_null(other_processes);
  summary["process_memory_mb"] = megabytes(process_memory_bytes);
  summary["series"] = std::move(series);
  return summary;
}

GpuTenants count_tenants(std::span<const system::GpuProcess> listed, const std::function<bool(pid_t)>& is_own,
                         const std::function<bool(pid_t)>& is_worker, int live_workers) {
  GpuTenants tenants;
  int own = 0;
  for (const system::GpuProcess& process : listed) {
    if (!is_own(process.pid)) continue;
    ++own;
    if (is_worker(process.pid) && process.memory_bytes)
      tenants.worker_bytes = tenants.worker_bytes.value_or(0) + *process.memory_bytes;
  }
  const int others = static_cast<int>(listed.size()) - (own > 0 ? own : live_workers);
  if (others >= 0) tenants.others = others;
  return tenants;
}

}  // namespace hone::bench
