// Two recordings side by side; see diff_tables.hpp.
#include "report/diff_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/names.hpp"
#include "base/units.hpp"
#include "report/trend_text.hpp"

namespace hone::report {
namespace {

using analysis::Estimate;
using analysis::MatchedLayers;
using base::time_text;

Cell estimate_cell(const Estimate& estimate) {
  if (estimate.mean == 0) return no_cell();
  Cell cell = time_cell(estimate.mean);
  cell.text += " ±" + time_text(estimate.half_width);
  return cell;
}

/// "+1.200 us": a sign, so that one sees at once which way it went.
Cell change_cell(double nanoseconds) {
  Cell cell = time_cell(std::abs(nanoseconds));
  cell.text = (nanoseconds < 0 ? "-" : "+") + cell.text;
  cell.plain = fmt::format("{:.0f}", nanoseconds);
  return cell;
}

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "(nothing)" : fmt::format("{}", fmt::join(names, " | "));
}

Sheet waterfall_sheet(const analysis::TraceDiff& diff) {
  Sheet sheet{"From A to B, one iteration",
              {{"", "", false}, {"Time", "ns"}, {"Of the change", "%"}},
              {},
              diff.notes};
  const double change = diff.iteration_b.mean - diff.iteration_a.mean;
  sheet.rows.push_back({text_cell("A"), estimate_cell(diff.iteration_a), no_cell()});
  for (const analysis::WaterfallBar& bar : diff.waterfall)
    sheet.rows.push_back({text_cell(bar.name), change_cell(bar.change),
                          change != 0 ? share_cell(bar.change / change) : no_cell()});
  sheet.rows.push_back({text_cell("B"), estimate_cell(diff.iteration_b), no_cell()});
  sheet.whole = true;
  const double noise = diff.iteration_a.half_width + diff.iteration_b.half_width;
  sheet.notes.push_back(std::abs(change) > noise
                            ? fmt::format("B takes {:.4g} of A's time: {:.3g} times as fast.",
                                          diff.iteration_b.mean / diff.iteration_a.mean, diff.speedup())
                            : std::string("The change is not more than noise."));
  for (const auto& [name, trend] : {std::pair("A", diff.trend_a), std::pair("B", diff.trend_b)}) {
    if (trend && trend->certain()) sheet.notes.push_back(fmt::format("{}: {}", name, trend_text(trend)));
  }
  return sheet;
}

Sheet layer_sheet(const analysis::TraceDiff& diff) {
  Sheet sheet{"Layers, the largest change first",
              {{"Change", "ns"},
               {"Accumulated", "ns"},
               {"A", "ns"},
               {"B", "ns"},
               {"Certain", "", false},
               {"Layers of A", "", false},
               {"Layers of B", "", false}},
              {},
              {}};
  double accumulated = 0;
  for (const MatchedLayers& group : diff.layers) {
    accumulated += group.change();
    sheet.rows.push_back({change_cell(group.change()), change_cell(accumulated), estimate_cell(group.time_a),
                          estimate_cell(group.time_b), text_cell(group.certain() ? "yes" : "no"),
                          text_cell(joined(group.a)), text_cell(joined(group.b))});
  }
  sheet.notes.emplace_back(
      "Layers stand together when they hold the same nodes of the model; no: not more than noise.");
  return sheet;
}

/// Kernels by the functions' own names, so that those of another instance of a template are the same.
std::string kernel_names(const std::vector<std::string>& kernels) {
  std::vector<std::string> names;
  for (const std::string& kernel : kernels) {
    std::string name = analysis::base_name(kernel);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return joined(names);
}

/// Layers whose kernels are others in B, by what ran in place of what.
Sheet kernel_sheet(const analysis::TraceDiff& diff) {
  struct Exchange {
    double change = 0;
    double time_a = 0;
    double time_b = 0;
    int64_t layers = 0;
  };
  std::map<std::pair<std::string, std::string>, Exchange> exchanges;
  for (const MatchedLayers& group : diff.layers) {
    auto names = std::pair(kernel_names(group.kernels_a), kernel_names(group.kernels_b));
    if (names.first == names.second) continue;
    Exchange& exchange = exchanges[std::move(names)];
    exchange.change += group.change();
    exchange.time_a += group.time_a.mean;
    exchange.time_b += group.time_b.mean;
    ++exchange.layers;
  }
  std::vector<std::pair<std::pair<std::string, std::string>, Exchange>> sorted(exchanges.begin(),
                                                                               exchanges.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::abs(a.second.change) > std::abs(b.second.change);
  });
  Sheet sheet{"Other kernels, the largest change first",
              {{"Change", "ns"},
               {"A", "ns"},
               {"B", "ns"},
               {"Layers"},
               {"Kernels of A", "", false},
               {"Kernels of B", "", false}},
              {},
              {}};
  for (const auto& [names, exchange] : sorted)
    sheet.rows.push_back({change_cell(exchange.change), time_cell(exchange.time_a),
                          time_cell(exchange.time_b), count_cell(exchange.layers), text_cell(names.first),
                          text_cell(names.second)});
  return sheet;
}

}  // namespace

std::vector<Sheet> diff_sheets(const analysis::TraceDiff& diff) {
  std::vector<Sheet> sheets = {waterfall_sheet(diff)};
  if (!diff.layers.empty()) sheets.push_back(layer_sheet(diff));
  if (Sheet kernels = kernel_sheet(diff); !kernels.rows.empty()) sheets.push_back(std::move(kernels));
  return sheets;
}

}  // namespace hone::report
