// Draws the memory of every configuration as stacked bars; see sweep_figures.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/plot/sweep_figures.hpp"
#include "report/plot/sweep_notes.hpp"
#include "report/plot/ticks.hpp"

namespace hone::report {
namespace {

/// Parts in the order of a bar. The last two are the rest of a bar, and a bar whose parts are unknown.
const std::vector<Part> kHostParts = {
    {"before the model is loaded", 5},       {"inputs", 4},        {"weights", 0}, {"activations", 1},
    {"the rest of the peak", kNeutralColor}, {"not told apart", 3}};
const std::vector<Part> kDeviceParts = {
    {"allocated by the backend", 0}, {"the rest of the process", kNeutralColor}, {"not told apart", 3}};

/// Stacks the parts; the difference to the whole is the rest. If the whole is less than the sum of the parts
/// (untouched pages are not resident), the bar is not divided.
std::vector<Bar> stacked(const std::vector<std::optional<double>>& parts, double whole) {
  const size_t rest = parts.size();
  std::vector<Bar> bars;
  double sum = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const double size = parts[i].value_or(0);
    if (size > 0) bars.push_back({sum, sum + size, i});
    sum += size;
  }
  if (bars.empty() || sum > whole) return {{0, whole, rest + 1}};
  if (whole > sum) bars.push_back({sum, whole, rest});
  return bars;
}

std::optional<Row> memory_row(const SweepSeries& series, const SweepRun& run) {
  const bool cpu = run.setup.on_cpu();
  const bench::MemoryFigure& host = run.memory;
  const bench::DeviceMemoryFigure device = run.device_memory.value_or(bench::DeviceMemoryFigure());
  const std::optional<double> of_device = device.process ? device.process : device.driver;
  const std::optional<double> whole = cpu ? run.peak_memory : of_device;
  if (!whole) return std::nullopt;
  Row row{series.name, fmt::format("{} MB{}", value_text(*whole), run.verdict.valid ? "" : " *")};
  row.bars = cpu ? stacked({host.baseline, host.inputs, host.weights, host.activations}, *whole)
                 : stacked({device.allocated}, *whole);
  return row;
}

/// The legend contains only parts that occur.
void keep_used_parts(RowChart* chart) {
  std::set<size_t> used;
  for (const Row& row : chart->rows) {
    for (const Bar& bar : row.bars) used.insert(bar.part);
  }
  std::vector<Part> parts;
  std::vector<size_t> places(chart->parts.size());
  for (const size_t part : used) {
    places[part] = parts.size();
    parts.push_back(chart->parts[part]);
  }
  chart->parts = std::move(parts);
  for (Row& row : chart->rows) {
    for (Bar& bar : row.bars) bar.part = places[bar.part];
  }
}

}  // namespace

std::optional<Figure> memory_figure(const SweepGroup& group) {
  const bool cpu = group.setup.on_cpu();
  std::set<int64_t> batches;
  for (const SweepSeries& series : group.series) {
    for (const SweepRun& run : series.runs) {
      if (memory_row(series, run)) batches.insert(run.setup.batch);
    }
  }
  if (batches.empty()) return std::nullopt;
  RowChart chart{{"memory, MB"}, cpu ? kHostParts : kDeviceParts, {}};
  for (const int64_t batch : batches) {
    if (batches.size() > 1) chart.rows.push_back({fmt::format("batch {}", batch), "", true});
    for (const SweepSeries& series : group.series) {
      for (const SweepRun& run : series.runs) {
        if (run.setup.batch != batch) continue;
        if (std::optional<Row> row = memory_row(series, run)) chart.rows.push_back(*std::move(row));
      }
    }
  }
  keep_used_parts(&chart);
  Figure figure;
  figure.name = group.name + "-memory";
  figure.title = fmt::format("{} of {}", cpu ? "Peak memory" : "Device memory", group.subject);
  if (batches.size() == 1) figure.title += fmt::format(", batch {}", *batches.begin());
  figure.subtitle =
      group.machine + (cpu ? ": the most that the process held, libraries and inputs included"
                           : ": what the driver counts for the process, CUDA's own context included");
  const bool all_valid = std::none_of(chart.rows.begin(), chart.rows.end(),
                                      [](const Row& row) { return row.text.ends_with('*'); });
  if (!all_valid) figure.notes.emplace_back("* INVALID; the result files say why.");
  for (std::string& note : notes_without_verdicts(group)) figure.notes.push_back(std::move(note));
  figure.chart = std::move(chart);
  return figure;
}

}  // namespace hone::report
