// See bench_summary.hpp.
#include "report/terminal/bench_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <numeric>
#include <optional>

#include "base/statistics.hpp"

namespace hone::report {
namespace {

using bench::RunRecord;
using bench::TimesFigure;

/// "-" for what so few samples do not tell, as in the table.
std::string percentile_text(const TimesFigure& times, double share, const std::optional<double>& value) {
  const bool told = value && times.n >= base::samples_for_percentile(share);
  return fmt::format("percentile({:g}%) = {}", 100 * share, told ? fmt::format("{:g} ms", *value) : "-");
}

std::string times_line(const char* name, const TimesFigure& times) {
  return fmt::format("{}: min = {:g} ms, max = {:g} ms, mean = {:g} ms, median = {:g} ms, {}, {}, {}", name,
                     times.min.value_or(0), times.max.value_or(0), times.mean.value_or(0),
                     times.p50.value_or(0), percentile_text(times, 0.9, times.p90),
                     percentile_text(times, 0.95, times.p95), percentile_text(times, 0.99, times.p99));
}

/// What a device tells beyond the latency, in trtexec's words and order; nothing of a part that is not known.
void add_phases(const RunRecord& run, std::vector<std::string>* lines) {
  const auto add = [&](const char* name, const std::optional<TimesFigure>& times) {
    if (times) lines->push_back(times_line(name, *times));
  };
  add("Enqueue Time", run.enqueue);
  add("H2D Latency", run.h2d);
  add("GPU Compute Time", run.device);
  add("D2H Latency", run.d2h);
}

/// Megabytes.
double growth_of(const std::optional<std::array<double, 2>>& looks) {
  return looks ? (*looks)[1] - (*looks)[0] : 0;
}

void add_memory(const RunRecord& run, std::vector<std::string>* lines) {
  if (const auto& device = run.device_memory) {
    lines->push_back(fmt::format("Device memory: planned = {:g} MB, allocated = {:g} MB, by the driver = {}",
                                 device->planned.value_or(0), device->allocated.value_or(0),
                                 device->driver ? fmt::format("{:g} MB", *device->driver) : "-"));
  }
  if (run.memory.engine_file) {
    lines->push_back(fmt::format("Model size: engine file = {:g} MB, packed weights = {:g} MB",
                                 *run.memory.engine_file, run.memory.weights.value_or(0)));
  }
  if (!run.growth) return;
  lines->push_back(fmt::format("Memory growth over {} runs: host = {:g} MB, device = {:g} MB",
                               run.growth->runs, growth_of(run.growth->resident),
                               growth_of(run.growth->device)));
}

/// Nothing of what was not compared.
void add_accuracy(const RunRecord& run, std::vector<std::string>* lines) {
  const bench::AccuracyFigure& accuracy = run.accuracy;
  std::vector<std::string> parts;
  if (accuracy.relative_l2) parts.push_back(fmt::format("relative L2 error = {:.3g}", *accuracy.relative_l2));
  if (accuracy.top1_agreement)
    parts.push_back(fmt::format("top-1 agreement = {:.1f} % of {} samples", 100 * *accuracy.top1_agreement,
                                accuracy.samples));
  if (run.int8_share) parts.push_back(fmt::format("multiply-adds in int8 = {:.1f} %", 100 * *run.int8_share));
  if (!parts.empty()) lines->push_back(fmt::format("Accuracy: {}", fmt::join(parts, ", ")));
}

}  // namespace

std::vector<std::string> bench_summary(const RunRecord& run) {
  const auto batch = static_cast<double>(run.setup.batch);
  const double throughput = run.throughput.value_or(0);
  std::vector<std::string> lines = {
      "=== Performance summary ===", fmt::format("Throughput: {:g} qps", throughput / batch),
      fmt::format("Samples per second: {:g}", throughput), times_line("Latency", run.latency)};
  add_phases(run, &lines);
  if (run.pipelined) {
    lines.push_back(fmt::format("Pipelined throughput: {:g} qps on {} streams ({} data transfers)",
                                run.pipelined->throughput / batch, run.pipelined->streams,
                                run.pipelined->transfers ? "with" : "without"));
  }
  add_accuracy(run, &lines);
  const double wall_ms = std::accumulate(run.block_wall_ms.begin(), run.block_wall_ms.end(), 0.0);
  lines.push_back(fmt::format("Total Host Walltime: {:g} s", wall_ms / 1e3));
  add_memory(run, &lines);
  lines.push_back(fmt::format("Result is : {}", run.verdict.valid ? "VALID" : "INVALID"));
  for (const std::string& reason : run.verdict.reasons) lines.push_back("  " + reason);
  return lines;
}

}  // namespace hone::report
