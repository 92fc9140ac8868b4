// See bench_layers.hpp.
#include "report/terminal/bench_layers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "base/statistics.hpp"
#include "base/units.hpp"
#include "report/terminal/trace_tables.hpp"

namespace hone::report {
namespace {

constexpr double kNanoseconds = 1e6;  ///< of a millisecond

double sum_of(const bench::Run& run) {
  double sum = 0;
  for (const bench::LayerFigure& layer : run.layers) sum += layer.time.p50.value_or(0);
  return sum;
}

Cell time_of(const std::optional<double>& milliseconds) {
  return milliseconds ? time_cell(kNanoseconds * *milliseconds) : no_cell();
}

Cell half_interval(const bench::TimesFigure& time) {
  if (!time.p50_interval) return no_cell();
  return time_cell(kNanoseconds * ((*time.p50_interval)[1] - (*time.p50_interval)[0]) / 2);
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : ""; }

}  // namespace

Sheet bench_layer_sheet(const bench::Run& run) {
  Sheet sheet{fmt::format("Layers of {}", run.setup.text()),
              {{"Share", "%"},
               {"Med", "ns"},
               {"±", "ns", true, true},
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
                          time_of(layer.time.p50), half_interval(layer.time), parts_cell(layer.inputs, ", "),
                          parts_cell(layer.outputs, ", "), layer_cell(layer.name), text_cell(layer.tactic)});
  const std::vector<double> samples = base::all_samples(run.rounds);
  sheet.notes.push_back(fmt::format(
      "{} layers, medians of {} runs: together {}; a run takes {} while its layers are not timed.",
      run.layers.size(), run.layers.empty() ? 0 : run.layers.front().time.n,
      base::time_text(kNanoseconds * sum), base::time_text(kNanoseconds * base::median(samples))));
  return sheet;
}

std::string layers_csv(const bench::Sweep& sweep) {
  std::string text =
      "model,backend,precision,batch,layer,kind,tactic,inputs,outputs,p50_ms,p50_low_ms,p50_high_ms,mean_ms,"
      "samples,"
      "flops,bytes\n";
  for (const bench::Run& run : sweep.runs) {
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
