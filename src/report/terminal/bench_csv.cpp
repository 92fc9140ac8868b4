// See bench_csv.hpp.
#include "report/terminal/bench_csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <vector>

#include "report/terminal/percentile.hpp"

namespace hone::report {
namespace {

/// Quotes the text if it would otherwise be read as several cells.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : ""; }

std::string line(const std::vector<std::string>& cells) {
  std::string text;
  for (size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : ",") + cell(cells[i]);
  return text + "\n";
}

std::vector<std::string> measured_cells(const bench::RunRecord& run, std::span<const double> percentiles) {
  const std::vector<double> samples = base::all_samples(run.samples);
  const base::Summary summary = base::summarize(samples);
  std::vector<std::string> cells = {std::to_string(summary.n), number(summary.mean), number(summary.p50)};
  for (const double percent : percentiles) {
    const auto value = told_percentile(samples, percent);
    cells.push_back(number(value));
  }
  cells.push_back(number(run.throughput));
  cells.push_back(run.pipelined ? number(run.pipelined->throughput) : "");
  const bool interval = run.speedup && run.speedup->interval;
  cells.push_back(run.speedup ? number(run.speedup->ratio) : "");
  cells.push_back(interval ? number((*run.speedup->interval)[0]) : "");
  cells.push_back(interval ? number((*run.speedup->interval)[1]) : "");
  cells.push_back(number(run.peak_memory));
  cells.push_back(number(run.accuracy.relative_l2));
  cells.push_back(number(run.accuracy.top1_agreement));
  cells.push_back(number(run.int8_share));
  return cells;
}

}  // namespace

std::string bench_csv(const bench::SweepRecord& sweep, std::span<const double> percentiles) {
  std::vector<std::string> header = {"model",   "backend", "precision", "batch", "device",
                                     "threads", "samples", "mean_ms",   "p50_ms"};
  for (const double percent : percentiles) header.push_back(fmt::format("p{:g}_ms", percent));
  for (const char* name : {"per_second", "pipelined_per_second", "speedup", "speedup_low", "speedup_high",
                           "peak_mb", "relative_l2", "top1_agreement", "int8_share", "valid", "reason"})
    header.emplace_back(name);
  std::string text = line(header);
  for (const bench::RunRecord& run : sweep.runs) {
    const bench::Setup& setup = run.setup;
    std::vector<std::string> cells = {setup.model,     setup.backend,
                                      setup.precision, std::to_string(setup.batch),
                                      setup.device,    std::to_string(setup.threads)};
    if (run.measured()) {
      for (std::string& value : measured_cells(run, percentiles)) cells.push_back(std::move(value));
    }
    cells.resize(header.size() - 2);
    cells.emplace_back(run.measured() && run.verdict.valid ? "yes" : "no");
    cells.push_back(run.failure ? *run.failure : fmt::format("{}", fmt::join(run.verdict.reasons, "; ")));
    text += line(cells);
  }
  return text;
}

}  // namespace hone::report
