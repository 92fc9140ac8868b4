// See bench_table.hpp.
#include "report/bench_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/statistics.hpp"

namespace hone::report {
namespace {

using bench::Run;

size_t longest(const std::vector<std::string>& names) {
  size_t width = 0;
  for (const std::string& name : names) width = std::max(width, name.size());
  return width;
}

/// At least four significant digits down to ten microseconds.
std::string number(double value) {
  const int decimals = value >= 100 ? 1 : value >= 10 ? 2 : value >= 1 ? 3 : 5;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string latency_cell(const base::Summary& summary) {
  const double half = (summary.p50_interval.high - summary.p50_interval.low) / 2;
  return number(summary.p50) + " ±" + fmt::format("{:.{}f}", half, half >= 10 ? 1 : half >= 1 ? 2 : 3);
}

std::string p99_cell(const base::Summary& summary) {
  return summary.n >= base::samples_for_percentile(0.99) ? number(summary.p99) : "-";
}

std::string speedup_cell(const Run& run) {
  if (!run.speedup) return "-";
  const base::Ratio& ratio = run.speedup->ratio;
  if (!ratio.known) return fmt::format("{:.2f}x [?]", ratio.value);
  const std::string interval = fmt::format("[{:.2f} {:.2f}]", ratio.low, ratio.high);
  if (ratio.contains(1)) return "no difference " + interval;
  return fmt::format("{:.2f}x {}", ratio.value, interval);
}

std::string megabytes_cell(int64_t bytes) {
  return bytes > 0 ? fmt::format("{:.0f}", static_cast<double>(bytes) / 1e6) : "-";
}

std::string error_cell(const bench::Accuracy& accuracy) {
  return accuracy.relative_l2 ? fmt::format("{:.1e}", *accuracy.relative_l2) : "-";
}

size_t longest_stem(const std::vector<std::string>& models) {
  size_t width = 0;
  for (const std::string& model : models) width = std::max(width, bench::file_stem(model).size());
  return width;
}

}  // namespace

BenchTable::BenchTable(const bench::SweepOptions& options)
    : table_({{"model", longest_stem(options.models), false},
              {"backend", longest(options.backends), false},
              {"prec", longest(options.precisions), false},
              {"batch", 5},
              {"p50 ms", 15},
              {"p99 ms", 8},
              {"per second", 10},
              {"vs " + options.compare_to, 27},
              {"peak MB", 7},
              {"rel error", 9},
              {"verdict", 7, false}}) {}

std::string BenchTable::row(const Run& run) const {
  const bench::Configuration& configuration = run.configuration;
  std::vector<std::string> cells = {bench::file_stem(configuration.model), configuration.backend,
                                    configuration.precision, std::to_string(configuration.batch)};
  if (!run.measured()) {
    return table_.row(cells) + "  FAILED: " + run.failure.value_or("nothing was measured");
  }
  const base::Summary summary = base::summarize(base::all_samples(run.rounds));
  cells.push_back(latency_cell(summary));
  cells.push_back(p99_cell(summary));
  cells.push_back(number(run.throughput()));
  cells.push_back(speedup_cell(run));
  cells.push_back(megabytes_cell(run.memory.peak));
  cells.push_back(error_cell(run.accuracy));
  cells.push_back(run.verdict.valid ? "VALID" : "INVALID");
  return table_.row(cells);
}

std::vector<std::string> bench_notes(const bench::Sweep& sweep, const bench::SweepOptions& options) {
  std::vector<std::string> notes = {fmt::format(
      "p50 ± half its 95 % interval; p99 from 299 samples on; speedup over {} in {} with 95 % interval; "
      "error: relative L2 against the fp32 reference.",
      options.compare_to, options.precisions.front())};
  std::set<std::string> said;
  for (const Run& run : sweep.runs) {
    for (const std::string& note : run.notes) {
      const std::string line = run.configuration.backend + " " + run.configuration.precision + ": " + note;
      if (said.insert(line).second) notes.push_back(line);
    }
    if (!run.measured()) continue;
    if (!run.accuracy.reason.empty() && said.insert(run.accuracy.reason).second) {
      notes.push_back(run.configuration.model + ": no accuracy: " + run.accuracy.reason);
    }
    if (!run.verdict.valid) {
      notes.push_back(
          fmt::format("INVALID {}: {}", run.configuration.text(), fmt::join(run.verdict.reasons, "; ")));
    }
  }
  return notes;
}

}  // namespace hone::report
