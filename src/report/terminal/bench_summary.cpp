// See bench_summary.hpp.
#include "report/terminal/bench_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/statistics.hpp"
#include "bench/results/figures.hpp"

namespace hone::report {
namespace {

/// "-" for what so few samples do not tell, as in the table.
std::string percentile_text(const base::Summary& summary, double share, double value) {
  const bool told = summary.n >= base::samples_for_percentile(share);
  return fmt::format("percentile({:g}%) = {}", 100 * share, told ? fmt::format("{:g} ms", value) : "-");
}

std::string times_line(const char* name, const std::vector<double>& times) {
  const base::Summary s = base::summarize(times);
  return fmt::format("{}: min = {:g} ms, max = {:g} ms, mean = {:g} ms, median = {:g} ms, {}, {}, {}", name,
                     s.min, s.max, s.mean, s.p50, percentile_text(s, 0.9, s.p90),
                     percentile_text(s, 0.95, s.p95), percentile_text(s, 0.99, s.p99));
}

/// What a device tells beyond the latency, in trtexec's words and order; nothing of a part that is not known.
void add_phases(const bench::Run& run, std::vector<std::string>* lines) {
  const auto add = [&](const char* name, const std::vector<double>& times) {
    if (bench::phase_figure(times)) lines->push_back(times_line(name, times));
  };
  add("Enqueue Time", run.phases.enqueue_ms);
  add("H2D Latency", run.phases.h2d_ms);
  add("GPU Compute Time", run.phases.device_ms);
  add("D2H Latency", run.phases.d2h_ms);
}

void add_memory(const bench::Run& run, std::vector<std::string>* lines) {
  constexpr double kMega = 1e6;
  const auto megabytes = [](int64_t bytes) { return static_cast<double>(bytes) / kMega; };
  const bench::MemoryGrowth& growth = run.growth;
  if (!run.setup.on_cpu()) {
    const backend::DeviceMemoryUse& device = run.memory.device;
    lines->push_back(fmt::format("Device memory: planned = {:g} MB, allocated = {:g} MB, by the driver = {}",
                                 megabytes(device.planned), megabytes(device.allocated),
                                 device.driver > 0 ? fmt::format("{:g} MB", megabytes(device.driver)) : "-"));
  }
  if (run.memory.engine_file > 0) {
    lines->push_back(fmt::format("Model size: engine file = {:g} MB, packed weights = {:g} MB",
                                 megabytes(run.memory.engine_file), megabytes(run.memory.weights)));
  }
  if (growth.runs == 0) return;
  lines->push_back(fmt::format("Memory growth over {} runs: host = {:g} MB, device = {:g} MB", growth.runs,
                               megabytes(growth.resident_last - growth.resident_first),
                               megabytes(growth.device_last - growth.device_first)));
}

/// Nothing of what was not compared.
void add_accuracy(const bench::Run& run, std::vector<std::string>* lines) {
  const bench::Accuracy& accuracy = run.accuracy;
  std::vector<std::string> parts;
  if (accuracy.relative_l2) parts.push_back(fmt::format("relative L2 error = {:.3g}", *accuracy.relative_l2));
  if (accuracy.top1_agreement)
    parts.push_back(fmt::format("top-1 agreement = {:.1f} % of {} samples", 100 * *accuracy.top1_agreement,
                                accuracy.samples));
  if (run.int8_share) parts.push_back(fmt::format("multiply-adds in int8 = {:.1f} %", 100 * *run.int8_share));
  if (!parts.empty()) lines->push_back(fmt::format("Accuracy: {}", fmt::join(parts, ", ")));
}

}  // namespace

std::vector<std::string> bench_summary(const bench::Run& run) {
  const double queries = run.throughput() / static_cast<double>(run.setup.batch);
  std::vector<std::string> lines = {
      "=== Performance summary ===", fmt::format("Throughput: {:g} qps", queries),
      fmt::format("Samples per second: {:g}", run.throughput()),
      times_line("Latency", base::all_samples(run.rounds))};
  add_phases(run, &lines);
  if (run.pipelined.runs > 0) {
    lines.push_back(fmt::format("Pipelined throughput: {:g} qps on {} streams ({} data transfers)",
                                run.pipelined_throughput() / static_cast<double>(run.setup.batch),
                                run.setup.streams, run.setup.transfers ? "with" : "without"));
  }
  add_accuracy(run, &lines);
  lines.push_back(fmt::format("Total Host Walltime: {:g} s", run.measured_seconds()));
  add_memory(run, &lines);
  lines.push_back(fmt::format("Result is : {}", run.verdict.valid ? "VALID" : "INVALID"));
  for (const std::string& reason : run.verdict.reasons) lines.push_back("  " + reason);
  return lines;
}

}  // namespace hone::report
