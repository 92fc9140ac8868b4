// See quantize_tables.hpp.
#include "cli/quantize_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hone::cli {
namespace {

using report::Cell;
using report::Sheet;

constexpr double kNsPerUs = 1000;

Cell share(const std::optional<double>& value) {
  if (!value) return report::no_cell();
  return {fmt::format("{:.3f} %", 100 * *value), fmt::format("{:.6g}", 100 * *value)};
}

Cell number(const std::optional<double>& value) {
  if (!value) return report::no_cell();
  return {fmt::format("{:.3g}", *value), fmt::format("{:.9g}", *value)};
}

Cell time(const std::optional<double>& microseconds) {
  return microseconds ? report::time_cell(kNsPerUs * *microseconds) : report::no_cell();
}

void note_times(const quantize::Report& report, Sheet& sheet) {
  if (report.estimated_times.value_or(false))
    sheet.notes.emplace_back(
        "times are estimated from operations and bytes; no device of the target was timed");
}

}  // namespace

Sheet layers_sheet(const quantize::Report& report) {
  Sheet sheet;
  sheet.title = "Layers by their effect on the outputs, each quantized by itself";
  sheet.columns = {{"Name", "", false},  {"Precision", "", false},
                   {"Effect", ""},       {"Outputs", "%"},
                   {"Own error", "%"},   {"Class changed", "%", true, true},
                   {"Range", "", false}, {"By", "", false, true},
                   {"Clipped", "%"},     {"Float", "ns"},
                   {"Int8", "ns"}};
  std::vector<const quantize::ReportLayer*> order;
  for (const quantize::ReportLayer& layer : report.layers) order.push_back(&layer);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto* l) { return l->effect.value_or(0); });
  for (const quantize::ReportLayer* layer : order) {
    sheet.rows.push_back({report::text_cell(layer->name), report::text_cell(layer->precision),
                          number(layer->effect), share(layer->output_error), share(layer->own_error),
                          share(layer->changed),
                          report::text_cell(fmt::format("{:.3g} to {:.3g}", layer->low, layer->high)),
                          report::text_cell(layer->calibrator), share(layer->clipped), time(layer->float_us),
                          time(layer->int8_us)});
  }
  note_times(report, sheet);
  return sheet;
}

Sheet front_sheet(const quantize::Report& report) {
  Sheet sheet;
  sheet.title = "Models that were tried, the fastest first";
  sheet.columns = {{"In float", ""},        {"Steps", "ns"},       {"Lost", "%"},  {"Doubt", "%"},
                   {"Top class same", "%"}, {"Labels right", "%"}, {"Error", "%"}, {"", "", false}};
  for (const quantize::ReportModel& model : report.models) {
    sheet.rows.push_back({report::count_cell(static_cast<int64_t>(model.floating.size())),
                          time(model.time_us), share(model.accuracy.loss), share(model.accuracy.doubt),
                          share(model.accuracy.top1), share(model.accuracy.right),
                          share(model.accuracy.relative_error),
                          report::text_cell(model.chosen     ? "written"
                                            : model.on_front ? "on the front"
                                                             : "")});
  }
  sheet.whole = true;
  note_times(report, sheet);
  return sheet;
}

std::vector<std::string> kept_lines(const std::vector<quantize::FloatProduct>& kept) {
  std::vector<std::pair<const quantize::FloatProduct*, size_t>> groups;
  for (const quantize::FloatProduct& product : kept) {
    const auto same = std::ranges::find_if(
        groups, [&](const auto& group) { return group.first->reason == product.reason; });
    if (same == groups.end())
      groups.emplace_back(&product, 1);
    else
      ++same->second;
  }
  std::vector<std::string> lines;
  for (const auto& [first, count] : groups)
    lines.push_back(fmt::format("stays in floating point: {}{}: {}", first->node,
                                count == 1 ? "" : fmt::format(" and {} more", count - 1), first->reason));
  return lines;
}

std::string accuracy_text(const quantize::ReportAccuracy& accuracy) {
  std::string text;
  if (accuracy.right)
    text += fmt::format("{:.2f} % of the labels right, {:.2f} % in fp32; ", 100 * *accuracy.right,
                        100 * accuracy.right_before.value_or(0));
  text += fmt::format("relative error at the outputs {:.3f} %, worst cosine {:.5f} (1: same direction)",
                      100 * accuracy.relative_error, accuracy.cosine);
  if (accuracy.top1) text += fmt::format(", same top class {:.1f} %", 100 * *accuracy.top1);
  return text;
}

}  // namespace hone::cli
