// Compares two recordings in tables; see diff_tables.hpp.
#include "report/terminal/diff_tables.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/units.hpp"
#include "report/terminal/trace_tables.hpp"
#include "report/terminal/trend_text.hpp"

namespace hone::report {
namespace {

using analysis::Estimate;
using analysis::MatchedLayers;

Cell mean_cell(const Estimate& estimate) { return estimate.mean == 0 ? no_cell() : time_cell(estimate.mean); }

/// Half of the confidence interval.
Cell noise_cell(const Estimate& estimate) {
  return estimate.mean == 0 || !estimate.half_width ? no_cell() : time_cell(*estimate.half_width);
}

/// The size of the change, which is the most important figure.
std::string verdict(const analysis::TraceDiff& diff) {
  const std::optional<analysis::DiffSpeedup> speedup = diff.speedup();
  if (!speedup) {
    const bool has_a = diff.iteration_a.mean > 0;
    const bool has_b = diff.iteration_b.mean > 0;
    if (!has_a && !has_b) return "Neither A nor B has a time that could be compared.";
    return fmt::format("{} has no time that could be compared.", has_a ? "B" : "A");
  }
  const bool faster = speedup->ratio >= 1;
  std::string text =
      fmt::format("B is {}x as {} as A", base::factor_text(faster ? speedup->ratio : 1 / speedup->ratio),
                  faster ? "fast" : "slow");
  if (const auto& interval = speedup->interval) {
    const auto [low, high] = *interval;
    text += faster ? fmt::format(" [{} {}]", base::factor_text(low), base::factor_text(high))
                   : fmt::format(" [{} {}]", base::factor_text(1 / high), base::factor_text(1 / low));
  }
  text += speedup->undisturbed ? ", not recorded" : ", while recorded";
  if (!speedup->interval) return text + "; there are too few runs for an interval, so this may be noise.";
  return text + (*speedup->differs() ? "." : ": the change is not more than noise.");
}

/// "+1.200 us": the sign makes the direction visible at once.
Cell change_cell(double nanoseconds) {
  Cell cell = time_cell(std::abs(nanoseconds));
  cell.text = (nanoseconds < 0 ? "-" : "+") + cell.text;
  cell.plain = fmt::format("{:.0f}", nanoseconds);
  return cell;
}

Cell names_cell(const std::vector<std::string>& names) {
  if (names.empty()) return text_cell("(nothing)");
  return names.size() == 1 ? layer_cell(names.front()) : parts_cell(names, " | ");
}

Sheet waterfall_sheet(const analysis::TraceDiff& diff) {
  Sheet sheet{"From A to B, one iteration",
              {{"Part", "", false}, {"Time", "ns"}, {"±", "ns"}, {"Share of change", "%"}},
              {},
              diff.notes};
  const double change = diff.iteration_b.mean - diff.iteration_a.mean;
  sheet.rows.push_back(
      {text_cell("A"), mean_cell(diff.iteration_a), noise_cell(diff.iteration_a), no_cell()});
  for (const analysis::WaterfallBar& bar : diff.waterfall) {
    if (bar.change == 0) continue;
    sheet.rows.push_back({text_cell(bar.name), change_cell(bar.change), no_cell(),
                          change != 0 ? share_cell(bar.change / change) : no_cell()});
  }
  sheet.rows.push_back(
      {text_cell("B"), mean_cell(diff.iteration_b), noise_cell(diff.iteration_b), no_cell()});
  sheet.whole = true;
  // The overall change comes first; the rows explain it.
  if (!diff.unrelated) sheet.notes.insert(sheet.notes.begin(), verdict(diff));
  for (const auto& [name, trend] : {std::pair("A", diff.trend_a), std::pair("B", diff.trend_b)}) {
    if (trend && trend->certain()) sheet.notes.push_back(fmt::format("{}: {}", name, trend_text(trend)));
  }
  return sheet;
}

Sheet layer_sheet(const analysis::TraceDiff& diff) {
  Sheet sheet{"Layers, the largest change first",
              {{"Change", "ns"},
               {"Accumulated", "ns", true, true},
               {"A", "ns"},
               {"A ±", "ns", true, true},
               {"B", "ns"},
               {"B ±", "ns", true, true},
               {"Certain", "", false},
               {"Layers of A", "", false},
               {"Layers of B", "", false}},
              {},
              {}};
  double accumulated = 0;
  for (const MatchedLayers& group : diff.layers) {
    accumulated += group.change();
    sheet.rows.push_back({change_cell(group.change()), change_cell(accumulated), mean_cell(group.time_a),
                          noise_cell(group.time_a), mean_cell(group.time_b), noise_cell(group.time_b),
                          text_cell(group.certain() ? "yes" : "no"), names_cell(group.a),
                          names_cell(group.b)});
  }
  sheet.notes.emplace_back(
      "Layers stand together when they hold the same nodes of the model; ±: half of the 95 % confidence "
      "interval; no: not more than noise, or noise not known.");
  return sheet;
}

/// One row for each reason.
Sheet reason_sheet(const analysis::TraceDiff& diff) {
  Sheet sheet{"Why, the largest change first",
              {{"Change", "ns"}, {"Layers of A", "", false}, {"What is other", "", false}},
              {},
              {}};
  for (const MatchedLayers& group : diff.layers) {
    for (size_t i = 0; i < group.reasons.size(); ++i)
      sheet.rows.push_back({i == 0 ? change_cell(group.change()) : no_cell(),
                            i == 0 ? names_cell(group.a.empty() ? group.b : group.a) : text_cell(""),
                            text_cell(group.reasons[i])});
  }
  return sheet;
}

Sheet kernel_sheet(const analysis::TraceDiff& diff) {
  Sheet sheet{"Other kernels, the largest change first",
              {{"Change", "ns"},
               {"A", "ns"},
               {"B", "ns"},
               {"Layers"},
               {"Kernels of A", "", false},
               {"Kernels of B", "", false}},
              {},
              {}};
  for (const analysis::KernelExchange& exchange : diff.kernels)
    sheet.rows.push_back({change_cell(exchange.change()), time_cell(exchange.time_a),
                          time_cell(exchange.time_b), count_cell(exchange.layers), names_cell(exchange.a),
                          names_cell(exchange.b)});
  return sheet;
}

}  // namespace

std::vector<Sheet> diff_sheets(const analysis::TraceDiff& diff) {
  std::vector<Sheet> sheets = {waterfall_sheet(diff)};
  if (!diff.layers.empty()) sheets.push_back(layer_sheet(diff));
  if (Sheet reasons = reason_sheet(diff); !reasons.rows.empty()) sheets.push_back(std::move(reasons));
  if (!diff.kernels.empty()) sheets.push_back(kernel_sheet(diff));
  return sheets;
}

}  // namespace hone::report
