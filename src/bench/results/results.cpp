// See results.hpp.
#include "bench/results/results.hpp"

#include <algorithm>
#include <map>

#include "base/file.hpp"
#include "base/statistics.hpp"
#include "bench/results/figures.hpp"
#include "bench/results/layer_schema.hpp"
#include "bench/results/model_names.hpp"
#include "bench/results/result_file.hpp"
#include "bench/results/run_schema.hpp"

namespace hone::bench {
namespace {

constexpr std::string_view kLatency =
    "synchronous: from the call with inputs in host memory to outputs in host memory, with every copy the "
    "backend makes; on another device than the CPU without includes_transfers: from the call until the "
    "outputs are computed, inputs and outputs in device memory";
constexpr std::string_view kPipelined =
    "batch x runs / wall time of runs that overlap on `streams` streams, two in flight each (three of hone's "
    "with transfers)";

/// Explains the fields to readers of the file.
Json definitions() {
  return {{"latency_ms", kLatency},
          {"throughput_per_s", "batch x runs / wall time of back-to-back runs, one in flight"},
          {"device_ms", "from the first to the last step, by events of the device; in runs of their own"},
          {"enqueue_ms", "host time to hand over a run; in runs of their own"},
          {"h2d_ms, d2h_ms", "copies from and to pinned host memory, by events of the device"},
          {"pipelined", kPipelined},
          {"percentile", "nearest rank"},
          {"clock", "steady_clock"},
          {"mb", "1e6 bytes"}};
}

}  // namespace

Json to_json(const Run& run) {
  Json json = base::described_json(record_of(run));
  if (!run.layers.empty()) json["layers"] = base::described_json(run.layers);
  return json;
}

Json to_json(const Sweep& sweep) {
  Json json = base::described_json(SweepRecord{sweep.complete, sweep.context, sweep.options, {}});
  // Removed here so that the definitions come before the runs, which may be many.
  json.erase("runs");
  json["definitions"] = definitions();
  Json& runs = json["runs"] = Json::array();
  for (const Run& run : sweep.runs) runs.push_back(to_json(run));
  return json;
}

void write_sweep(const Sweep& sweep, const std::filesystem::path& path) {
  base::write_file_atomic(path, to_json(sweep).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Sweep read_sweep(const std::filesystem::path& path) {
  const Json json = read_result_file(path);
  try {
    return parse_sweep(json);
  } catch (const Error& error) {
    throw error.within(path.string());
  }
}

Sweep parse_sweep(const Json& json) {
  SweepRecord record = parse_record(json);
  check_samples(record);
  Sweep sweep{std::move(record.context), std::move(record.options), {}, record.complete};
  for (RunRecord& kept : record.runs) {
    Run& run = sweep.runs.emplace_back();
    run.setup = std::move(kept.setup);
    run.session = kept.session;
    run.rounds = std::move(kept.samples);
    run.failure = std::move(kept.failure);
  }
  return sweep;
}

std::vector<std::filesystem::path> write_small_results(const Sweep& sweep,
                                                       const std::vector<std::string>& models,
                                                       const std::filesystem::path& folder) {
  const std::vector<std::string> names = distinct_names(models);
  std::map<std::filesystem::path, Json> files;
  for (const Run& run : sweep.runs) {
    if (!run.measured()) continue;
    const Setup& setup = run.setup;
    const auto model = std::find(models.begin(), models.end(), setup.model) - models.begin();
    Json& file = files[folder / names.at(static_cast<size_t>(model)) / (file_stem(setup.backend) + ".json")];
    if (file.is_null()) {
      file = {{"model", setup.model}, {"backend", setup.backend}, {"results", Json::array()}};
    }
    file["results"].push_back(
        {{"precision", setup.precision},
         {"batch", setup.batch},
         {"latency_ms", base::described_json(times_figure(base::all_samples(run.rounds)))},
         {"throughput_per_s", run.throughput()},
         {"valid", run.verdict.valid}});
  }
  std::vector<std::filesystem::path> written;
  for (const auto& [path, json] : files) {
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error)
      fail_environment("cannot create the folder {}: {}", path.parent_path().string(), error.message());
    base::write_file_atomic(path, json.dump(1) + "\n");
    written.push_back(path);
  }
  return written;
}

}  // namespace hone::bench
