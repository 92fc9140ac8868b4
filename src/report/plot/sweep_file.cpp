// See sweep_file.hpp.
#include "report/plot/sweep_file.hpp"

#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/read_described.hpp"
#include "base/statistics.hpp"
#include "bench/results/result_file.hpp"

namespace hone::report {
namespace {

/// The part of a sweep's context that figures need.
struct NamedGpu {
  std::string name;
};
struct Machine {
  std::string date;
  std::string cpu;
  std::optional<NamedGpu> gpu;
};

}  // namespace
}  // namespace hone::report

namespace hone::base {

template <>
struct Description<report::NamedGpu> {
  static constexpr std::string_view kName = "NamedGpu";
  static constexpr std::tuple kFields{later(Field{"name", &report::NamedGpu::name, "Name of the GPU"})};
};

template <>
struct Description<report::Machine> {
  static constexpr std::string_view kName = "Machine";
  static constexpr std::tuple kFields{
      later(Field{"date", &report::Machine::date, "When the sweep began, ISO 8601"}),
      later(Field{"cpu", &report::Machine::cpu, "Name of the CPU"}),
      Field{"gpu", &report::Machine::gpu, "The GPU, where one computed"}};
};

}  // namespace hone::base

namespace hone::report {
namespace {

/// Larger numbers cannot be times, rates or sizes, and would overflow in the layout.
constexpr double kLargest = 1e18;

bool is_possible(double value, bool positive) {
  return value <= kLargest && value >= (positive ? 1 / kLargest : 0);
}

/// Removes impossible figures from a run and adds a note to it.
class Doubter {
 public:
  explicit Doubter(SweepRun* run) : run_(*run) {}

  void doubt_all() {
    doubt_latency();
    above_zero("throughput_per_s", &run_.throughput);
    if (run_.pipelined && !possible("pipelined.throughput_per_s", run_.pipelined->throughput, true))
      run_.pipelined.reset();
    doubt_speedup();
    doubt_memory();
  }

 private:
  void doubt(const std::string& field, const std::string& found) {
    run_.doubts.push_back(field + " " + found);
  }

  bool possible(const char* field, double value, bool positive) {
    if (is_possible(value, positive)) return true;
    doubt(field, fmt::format("{}", value));
    return false;
  }
  void above_zero(const char* field, std::optional<double>* value) {
    if (*value && !possible(field, **value, true)) value->reset();
  }
  void not_negative(const char* field, std::optional<double>* value) {
    if (*value && !possible(field, **value, false)) value->reset();
  }

  void doubt_latency() {
    bench::TimesFigure& latency = run_.latency;
    above_zero("latency_ms.p50", &latency.p50);
    if (!latency.p50) return;
    const std::array<std::tuple<const char*, double, std::optional<double>*>, 3> tops = {
        {{"p99", 0.99, &latency.p99}, {"p95", 0.95, &latency.p95}, {"p90", 0.9, &latency.p90}}};
    for (const auto& [name, share, value] : tops) {
      if (latency.n < base::samples_for_percentile(share)) continue;
      const std::string field = fmt::format("latency_ms.{}", name);
      above_zero(field.c_str(), value);
      if (*value && **value < *latency.p50) {
        doubt(field, fmt::format("{}, which is below p50", **value));
        value->reset();
      }
      if (!*value) continue;
      run_.spread.top = name;
      run_.spread.top_value = *value;
      break;
    }
    summarize_samples();
  }

  void summarize_samples() {
    std::vector<double> samples = base::all_samples(run_.samples);
    for (const double sample : samples) {
      if (sample > 0 && std::isfinite(sample)) continue;
      return doubt("samples_ms", fmt::format("{}", sample));
    }
    if (samples.empty()) return;
    const base::Summary summary = base::summarize(std::move(samples));
    run_.spread.p25 = summary.p25;
    run_.spread.p75 = summary.p75;
  }

  void doubt_speedup() {
    std::optional<bench::SpeedupFigure>& speedup = run_.speedup;
    if (!speedup) return;
    above_zero("speedup.ratio", &speedup->ratio);
    if (!speedup->ratio) return speedup.reset();
    if (!speedup->interval) return;
    const auto [low, high] = *speedup->interval;
    if (low > 0 && low <= high && high < kLargest) return;
    doubt("speedup.interval", Json(*speedup->interval).dump());
    speedup->interval.reset();
  }

  void doubt_memory() {
    above_zero("peak_memory_mb", &run_.peak_memory);
    not_negative("memory.baseline_mb", &run_.memory.baseline);
    not_negative("memory.inputs_mb", &run_.memory.inputs);
    not_negative("memory.weights_mb", &run_.memory.weights);
    not_negative("memory.activations_mb", &run_.memory.activations);
    if (!run_.device_memory) return;
    above_zero("device_memory.process_mb", &run_.device_memory->process);
    above_zero("device_memory.driver_mb", &run_.device_memory->driver);
    not_negative("device_memory.allocated_mb", &run_.device_memory->allocated);
  }

  SweepRun& run_;
};

SweepRun make_run(bench::RunRecord record, const Machine& machine, const Json& context) {
  SweepRun run;
  if (record.failure) {
    run.setup = std::move(record.setup);
    run.verdict = std::move(record.verdict);
    run.failure = std::move(record.failure);
  } else {
    static_cast<bench::RunRecord&>(run) = std::move(record);
    Doubter(&run).doubt_all();
  }
  run.samples = {};
  run.block_wall_ms = {};
  run.processor = run.setup.on_cpu() ? machine.cpu : machine.gpu.value_or(NamedGpu()).name;
  run.date = machine.date;
  run.input_shapes = bench::input_shapes(context, run.setup.model);
  return run;
}

std::vector<SweepRun> read_runs(const Json& json) {
  bench::SweepRecord sweep = bench::parse_record(json);
  if (sweep.runs.empty()) fail_bad_input("there are no runs in it");
  Machine machine;
  if (!sweep.context.is_null()) machine = base::read_described<Machine>(sweep.context, "context");
  std::vector<SweepRun> runs;
  for (bench::RunRecord& run : sweep.runs) runs.push_back(make_run(std::move(run), machine, sweep.context));
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
