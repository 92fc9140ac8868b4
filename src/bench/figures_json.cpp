// See figures_json.hpp; docs/BENCHMARK.md says what the fields mean.
#include "bench/figures_json.hpp"

#include <algorithm>

#include "base/statistics.hpp"

namespace hone::bench {
namespace {

constexpr double kMegabyte = 1e6;

/// The percentiles that the number of samples supports.
Json supported_percentiles(int64_t n) {
  Json names = Json::array();
  for (const int percent : {50, 90, 95, 99}) {
    if (n >= base::samples_for_percentile(percent / 100.0)) names.push_back("p" + std::to_string(percent));
  }
  return names;
}

Json pair_of_megabytes(int64_t first, int64_t last) {
  return first > 0 ? Json{megabytes(first), megabytes(last)} : Json(nullptr);
}

}  // namespace

Json megabytes(int64_t bytes) {
  return bytes > 0 ? Json(static_cast<double>(bytes) / kMegabyte) : Json(nullptr);
}

Json times_json(const std::vector<double>& times) {
  const base::Summary s = base::summarize(times);
  if (s.n == 0) {
    return {{"p50", nullptr},  {"p90", nullptr}, {"p95", nullptr}, {"p99", nullptr},
            {"mean", nullptr}, {"sd", nullptr},  {"n", 0}};
  }
  return {{"p50", s.p50},
          {"p90", s.p90},
          {"p95", s.p95},
          {"p99", s.p99},
          {"mean", s.mean},
          {"sd", s.sd},
          {"n", s.n},
          {"min", s.min},
          {"max", s.max},
          {"p50_interval", {s.p50_interval.low, s.p50_interval.high}},
          {"supported", supported_percentiles(s.n)}};
}

Json phase_json(const std::vector<double>& times) {
  const bool known = std::any_of(times.begin(), times.end(), [](double time) { return time > 0; });
  return known ? times_json(times) : Json(nullptr);
}

Json pipelined_json(const Run& run) {
  if (run.pipelined.runs == 0) return nullptr;
  return {{"throughput_per_s", run.pipelined_throughput()},
          {"streams", run.streams},
          {"includes_transfers", run.transfers},
          {"runs", run.pipelined.runs},
          {"seconds", run.pipelined.wall_ms / 1e3}};
}

Json device_memory_json(const Run& run) {
  if (run.device == "cpu") return nullptr;
  const backend::DeviceMemoryUse& device = run.memory.device;
  return {{"planned_mb", megabytes(device.planned)},
          {"allocated_mb", megabytes(device.allocated)},
          {"peak_allocated_mb", megabytes(device.peak_allocated)},
          {"driver_mb", megabytes(device.driver)},
          {"process_mb", megabytes(run.gpu.process_memory_bytes.value_or(0))},
          {"streams_allocated_mb", megabytes(run.memory.streams_allocated)}};
}

Json growth_json(const Run& run) {
  const MemoryGrowth& growth = run.growth;
  if (growth.runs == 0) return nullptr;
  return {{"runs", growth.runs},
          {"resident_mb", pair_of_megabytes(growth.resident_first, growth.resident_last)},
          {"device_mb", pair_of_megabytes(growth.device_first, growth.device_last)}};
}

}  // namespace hone::bench
