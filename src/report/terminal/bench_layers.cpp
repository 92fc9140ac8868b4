// See bench_layers.hpp.
#include "report/terminal/bench_layers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/statistics.hpp"
#include "base/units.hpp"
#include "report/terminal/trace_tables.hpp"

namespace hone::report {
namespace {

constexpr double kNanoseconds = 1e6;  ///< per millisecond

double sum_of(const bench::RunRecord& run) {
  double sum = 0;
  for (const bench::LayerFigure& layer : run.layers) sum += layer.time.p50.value_or(0);
  return sum;
}

Cell time_of(const std::optional<double>& milliseconds) {
  return milliseconds ? time_cell(kNanoseconds * *milliseconds) : no_cell();
}

/// Shortens "float32 1x64x56x56 blocked8" to "f32 1x64x56x56".
std::string short_type(const std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"bfloat", "bf"}, {"float", "f"}, {"uint", "u"}, {"int", "i"}};
  const std::string brief = text.substr(0, text.find(' ', std::min(text.find(' '), text.size() - 1) + 1));
  for (const auto& [name, letter] : kShort) {
    if (brief.starts_with(name)) return std::string(letter) + brief.substr(name.size());
  }
  return brief;
}

/// All types, or, if there is little room, the first in short form and the number of the others.
Cell types_cell(const std::vector<std::string>& types) {
  Cell cell = parts_cell(types, ", ");
  if (types.empty() || types.front().empty()) return cell;
  cell.shorter = short_type(types.front());
  if (cell.counts) cell.shorter += fmt::format(" +{}", types.size() - 1);
  return cell;
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : ""; }

}  // namespace

Sheet bench_layer_sheet(const bench::RunRecord& run) {
  Sheet sheet{fmt::format("Layers of {}", run.setup.text()),
              {{"Share", "%"},
               {"Med", "ns"},
               {"Input", "", false},
               {"Output", "", false},
               {"Layer", "", false},
               {"Tactic", "", false, true}},
              {},
              {}};
  sheet.whole = true;
  const double sum = sum_of(run);
  for (const bench::LayerFigure& layer : run.layers)
    sheet.rows.push_back({sum > 0 ? share_cell(layer.time.p50.value_or(0) / sum) : no_cell(),
                          time_of(layer.time.p50), types_cell(layer.inputs), types_cell(layer.outputs),
                          layer_cell(layer.name), text_cell(layer.tactic)});
  const std::vector<double> samples = base::all_samples(run.samples);
  sheet.notes.push_back(fmt::format(
      "{} layers, medians of {} runs: together {}; a run takes {} while its layers are not timed.",
      run.layers.size(), run.layers.empty() ? 0 : run.layers.front().time.n,
      base::time_text(kNanoseconds * sum), base::time_text(kNanoseconds * base::median(samples))));
  return sheet;
}

std::string layers_csv(const bench::SweepRecord& sweep) {
  std::string text =
      "model,backend,precision,batch,layer,kind,tactic,inputs,outputs,p50_ms,p50_low_ms,p50_high_ms,mean_ms,"
      "samples,"
      "flops,bytes\n";
  for (const bench::RunRecord& run : sweep.runs) {
    for (const bench::LayerFigure& layer : run.layers) {
      const auto& interval = layer.time.p50_interval;
      const std::vector<std::string> cells = {run.setup.model,
                                              run.setup.backend,
                                              run.setup.precision,
                                              std::to_string(run.setup.batch),
                                              layer.name,
                                              layer.kind,
                                              layer.tactic,
                                              fmt::format("{}", fmt::join(layer.inputs, "; ")),
                                              fmt::format("{}", fmt::join(layer.outputs, "; ")),
                                              number(layer.time.p50),
                                              interval ? number((*interval)[0]) : "",
                                              interval ? number((*interval)[1]) : "",
                                              number(layer.time.mean),
                                              std::to_string(layer.time.n),
                                              number(layer.flops),
                                              number(layer.bytes)};
      for (size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : ",") + csv_field(printable(cells[i]));
      text += "\n";
    }
  }
  return text;
}

}  // namespace hone::report
