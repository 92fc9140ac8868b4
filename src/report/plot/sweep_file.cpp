// See sweep_file.hpp.
#include "report/plot/sweep_file.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>

#include "base/error.hpp"
#include "bench/results/result_file.hpp"
#include "bench/results/results.hpp"
#include "report/plot/fields.hpp"

namespace hone::report {
namespace {

/// Samples of all rounds; none when one of them is no time.
std::vector<double> read_samples(const Fields& run) {
  std::vector<double> samples;
  for (const Json& round : run.list("samples_ms")) {
    if (!round.is_array()) fail_bad_input("the field samples_ms holds something else than lists");
    for (const Json& sample : round) {
      if (!sample.is_number()) fail_bad_input("the field samples_ms holds something else than numbers");
      samples.push_back(sample.get<double>());
      if (samples.back() > 0 && std::isfinite(samples.back())) continue;
      run.doubt("samples_ms", fmt::format("{}", samples.back()));
      return {};
    }
  }
  return samples;
}

std::optional<MeasuredLatency> read_latency(const Fields& run) {
  const Fields fields = run.object("latency_ms");
  const std::optional<double> p50 = fields.positive("p50");
  if (!p50) return std::nullopt;
  MeasuredLatency latency{*p50, std::nullopt, std::nullopt, "", std::nullopt};
  const int64_t n = fields.integer("n").value_or(0);
  constexpr std::array<std::pair<const char*, double>, 3> kTops = {
      {{"p99", 0.99}, {"p95", 0.95}, {"p90", 0.9}}};
  for (const auto& [name, p] : kTops) {
    if (n < base::samples_for_percentile(p)) continue;
    latency.top_value = fields.positive(name);
    if (latency.top_value && *latency.top_value < *p50) {
      fields.doubt(name, fmt::format("{}, which is below p50", *latency.top_value));
      latency.top_value.reset();
    }
    if (!latency.top_value) continue;
    latency.top = name;
    break;
  }
  std::vector<double> samples = read_samples(run);
  if (samples.empty()) return latency;
  const base::Summary summary = base::summarize(std::move(samples));
  latency.p25 = summary.p25;
  latency.p75 = summary.p75;
  return latency;
}

std::optional<MeasuredSpeedup> read_speedup(const Fields& run) {
  const Fields fields = run.object("speedup");
  const std::optional<double> ratio = fields.positive("ratio");
  if (!ratio) return std::nullopt;
  const Fields over = fields.object("over");
  const std::string backend = over.require_text("backend");
  MeasuredSpeedup speedup{backend + " " + over.require_text("precision"), *ratio, std::nullopt,
                          fields.flag("interleaved").value_or(true)};
  const Json& interval = fields.list("interval");
  if (interval.is_null()) return speedup;
  if (interval.size() != 2 || !interval[0].is_number() || !interval[1].is_number())
    fail_bad_input("the field speedup.interval is no pair of numbers");
  const base::Interval ends{interval[0].get<double>(), interval[1].get<double>()};
  if (ends.low > 0 && ends.low <= ends.high && ends.high < 1e18) {
    speedup.interval = ends;
  } else {
    fields.doubt("interval", interval.dump());
  }
  return speedup;
}

MeasuredMemory read_memory(const Fields& run) {
  const Fields host = run.object("memory");
  const Fields device = run.object("device_memory");
  const std::optional<double> process = device.positive("process_mb");
  return {run.positive("peak_memory_mb"),      host.not_negative("baseline_mb"),
          host.not_negative("inputs_mb"),      host.not_negative("weights_mb"),
          host.not_negative("activations_mb"), process ? process : device.positive("driver_mb"),
          device.not_negative("allocated_mb")};
}

struct Context {
  std::string date;
  std::string cpu;
  std::string gpu;
};

bench::Setup read_setup(const Fields& run) {
  bench::Setup setup;
  setup.model = run.require_text("model");
  setup.backend = run.require_text("backend");
  setup.precision = run.require_text("precision");
  setup.batch = run.require_integer("batch");
  if (setup.batch < 1) fail_bad_input("the field batch is {}", setup.batch);
  setup.device = run.text("device").value_or(setup.device);
  setup.threads = static_cast<int>(std::clamp<int64_t>(run.integer("threads").value_or(0), 0, INT_MAX));
  setup.transfers = run.flag("includes_transfers").value_or(false);
  setup.cold_l2 = run.flag("cold_l2").value_or(false);
  return setup;
}

SweepRun read_run(const Json& json, const Context& context) {
  SweepRun run;
  const Fields fields(json, "", &run.doubts);
  run.setup = read_setup(fields);
  run.model = bench::file_stem(run.setup.model);
  run.processor = run.setup.on_cpu() ? context.cpu : context.gpu;
  run.date = context.date;
  run.valid = fields.object("verdict").flag("valid").value_or(false);
  run.failure = fields.text("failure");
  if (run.failure) return run;
  run.latency = read_latency(fields);
  run.throughput = fields.positive("throughput_per_s");
  const Fields pipelined = fields.object("pipelined");
  run.pipelined = pipelined.positive("throughput_per_s");
  run.streams = pipelined.integer("streams").value_or(0);
  run.speedup = read_speedup(fields);
  run.memory = read_memory(fields);
  return run;
}

Context read_context(const Fields& file) {
  const Fields context = file.object("context");
  return {context.text("date").value_or(""), context.text("cpu").value_or(""),
          context.object("gpu").text("name").value_or("")};
}

std::vector<SweepRun> read_runs(const Json& json) {
  std::vector<std::string> doubts;
  const Fields file(json, "", &doubts);
  const Context context = read_context(file);
  std::vector<SweepRun> runs;
  for (const Json& run : file.list("runs")) {
    try {
      runs.push_back(read_run(run, context));
    } catch (const Error& error) {
      throw error.within(fmt::format("run {}", runs.size()));
    }
  }
  if (runs.empty()) fail_bad_input("there are no runs in it");
  return runs;
}

}  // namespace

std::vector<SweepRun> read_sweep_file(const std::filesystem::path& path) {
  const Json json = bench::read_result_file(path);
  try {
    return read_runs(json);
  } catch (const Error& error) {
    throw error.within(path.string());
  }
}

}  // namespace hone::report
