// See bench_summary.hpp.
#include "report/terminal/bench_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <numeric>
#include <optional>

#include "base/statistics.hpp"
#include "base/units.hpp"

namespace hone::report {
namespace {

using bench::RunRecord;
using bench::TimesFigure;

/// As in the table, "-" if the number of samples does not support this percentile.
std::string percentile_text(const TimesFigure& times, double share, const std::optional<double>& value) {
  const bool told = value && times.n >= base::samples_for_percentile(share);
  return fmt::format("percentile({:g}%) = {}", 100 * share,
                     told ? base::number_text(*value) + " ms"
                          : fmt::format("- ({} samples needed)", base::samples_for_percentile(share)));
}

std::string times_line(const char* name, const TimesFigure& times) {
  const auto figure = [](const std::optional<double>& value) { return base::number_text(value.value_or(0)); };
  return fmt::format("{}: min = {} ms, max = {} ms, mean = {} ms, median = {} ms, {}, {}, {}", name,
                     figure(times.min), figure(times.max), figure(times.mean), figure(times.p50),
                     percentile_text(times, 0.9, times.p90), percentile_text(times, 0.95, times.p95),
                     percentile_text(times, 0.99, times.p99));
}

/// Adds the figures of a device besides the latency, in trtexec's words and order; unknown parts are left
/// out.
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
    lines->push_back(fmt::format("Device memory: planned = {} MB, allocated = {} MB, by the driver = {}",
                                 base::number_text(device->planned.value_or(0)),
                                 base::number_text(device->allocated.value_or(0)),
                                 device->driver ? base::number_text(*device->driver) + " MB" : "-"));
  }
  if (run.memory.engine_file) {
    lines->push_back(fmt::format("Model size: engine file = {} MB, packed weights = {} MB",
                                 base::number_text(*run.memory.engine_file),
                                 base::number_text(run.memory.weights.value_or(0))));
  }
  if (!run.growth) return;
  lines->push_back(fmt::format("Memory growth over {} runs: host = {} MB, device = {} MB", run.growth->runs,
                               base::number_text(growth_of(run.growth->resident)),
                               base::number_text(growth_of(run.growth->device))));
}

void add_accuracy(const RunRecord& run, std::vector<std::string>* lines) {
  const bench::AccuracyFigure& accuracy = run.accuracy;
  std::vector<std::string> parts;
  if (accuracy.relative_l2) parts.push_back(fmt::format("relative L2 error = {:.3g}", *accuracy.relative_l2));
  if (accuracy.top1_agreement)
    parts.push_back(fmt::format("top-1 agreement = {:.1f} % of {} samples", 100 * *accuracy.top1_agreement,
                                accuracy.samples));
  if (run.int8_share) parts.push_back(fmt::format("multiply-adds in int8 = {:.1f} %", 100 * *run.int8_share));
  if (!accuracy.relative_l2 && accuracy.reason) parts.emplace_back("not known, the note below says why");
  if (!parts.empty()) lines->push_back(fmt::format("Accuracy: {}", fmt::join(parts, ", ")));
}

}  // namespace

std::vector<std::string> bench_summary(const RunRecord& run) {
  const auto batch = static_cast<double>(run.setup.batch);
  const double throughput = run.throughput.value_or(0);
  std::vector<std::string> lines = {"=== Performance summary ===",
                                    fmt::format("Throughput: {} qps", base::number_text(throughput / batch))};
  if (run.setup.batch != 1)
    lines.push_back(fmt::format("Samples per second: {}", base::number_text(throughput)));
  lines.push_back(times_line("Latency", run.latency));
  add_phases(run, &lines);
  if (run.pipelined) {
    lines.push_back(fmt::format("Pipelined throughput: {} qps on {} streams ({} data transfers)",
                                base::number_text(run.pipelined->throughput / batch), run.pipelined->streams,
                                run.pipelined->transfers ? "with" : "without"));
  }
  add_accuracy(run, &lines);
  const double wall_ms = std::accumulate(run.block_wall_ms.begin(), run.block_wall_ms.end(), 0.0);
  lines.push_back(fmt::format("Total Host Walltime: {} s", base::number_text(wall_ms / 1e3)));
  add_memory(run, &lines);
  lines.push_back(fmt::format("Result is : {}", run.verdict.valid ? "VALID" : "INVALID"));
  for (const std::string& reason : run.verdict.reasons) lines.push_back("  " + reason);
  return lines;
}

}  // namespace hone::report
