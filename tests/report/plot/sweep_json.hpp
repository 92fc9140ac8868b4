// Results of `hone bench` as small as figures need them.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/temporary_folder.hpp"
#include "report/plot/sweep_groups.hpp"

namespace hone::report {

/// `n` samples from p50 - 1 to p50 + 1 ms; valid, without a speedup.
inline Json run_json(const std::string& backend, const std::string& precision, int batch, double p50,
                     int n = 400) {
  Json samples = Json::array();
  for (int i = 0; i < n; ++i) samples.push_back(p50 - 1 + 2.0 * i / n);
  return {
      {"model", "net"},
      {"backend", backend},
      {"precision", precision},
      {"batch", batch},
      {"threads", 2},
      {"device", "cpu"},
      {"latency_ms", {{"p50", p50}, {"p90", p50 + 2}, {"p95", p50 + 3}, {"p99", p50 + 4}, {"n", n}}},
      {"throughput_per_s", 1000 * batch / p50},
      {"peak_memory_mb", 100},
      {"memory", {{"baseline_mb", 10}, {"inputs_mb", 1}, {"weights_mb", 30}, {"activations_mb", nullptr}}},
      {"speedup", nullptr},
      {"verdict", {{"valid", true}}},
      {"failure", nullptr},
      {"samples_ms", {std::move(samples)}}};
}

inline Json speedup_json(double ratio, double low, double high) {
  return {{"over", {{"backend", "torch"}, {"precision", "fp32"}}},
          {"ratio", ratio},
          {"interval", {low, high}},
          {"interleaved", true}};
}

inline Json sweep_json(std::vector<Json> runs, const std::string& date = "2026-11-21T03:29:36Z") {
  return {{"schema", "hone.bench"},
          {"version", 1},
          {"context", {{"date", date}, {"cpu", "Some CPU"}}},
          {"runs", std::move(runs)}};
}

inline std::vector<SweepRun> read_json(const Json& json) {
  const base::TemporaryFolder folder;
  return read_sweep_file(folder.write("sweep.json", json.dump()));
}

/// The only group there is.
inline SweepGroup group_of(std::vector<Json> runs) {
  const std::vector<SweepGroup> groups = group_runs(read_json(sweep_json(std::move(runs))));
  EXPECT_EQ(groups.size(), 1U);
  return groups.at(0);
}

}  // namespace hone::report
