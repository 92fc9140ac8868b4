// Layers of a model as tables; see trace_tables.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/names.hpp"
#include "base/units.hpp"
#include "report/terminal/trace_tables.hpp"

namespace hone::report {
namespace {

using analysis::Layer;
using base::time_text;

/// People see only the functions' own names, because the tactic gives the rest; CSV contains the full names.
Cell kernels_of(const Layer& layer) {
  Cell cell;
  for (const analysis::LayerKernel& kernel : layer.kernels) {
    const std::string calls = kernel.calls > 1 ? fmt::format(" x{:.3g}", kernel.calls) : "";
    const char* between = cell.text.empty() ? "" : "; ";
    cell.text += between + analysis::base_name(kernel.name) + calls;
    cell.plain += between + kernel.name + calls;
  }
  return cell;
}

Cell number_cell(double value, const char* text_format) {
  if (value <= 0) return no_cell();
  return {fmt::format(fmt::runtime(text_format), value), fmt::format("{:.6g}", value)};
}

}  // namespace

Cell layer_cell(const std::string& name) {
  constexpr std::string_view kBetween = " + ";
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find(kBetween, begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + kBetween.size();
  }
  return parts_cell(parts, std::string(kBetween));
}

std::vector<Sheet> layer_sheets(const analysis::LayerTable& table) {
  Sheet sheet{"Layers, the longest first",
              {{"Share", "%"},
               {"Med", "ns"},
               {"25 %", "ns", true, true},
               {"75 %", "ns", true, true},
               {"TFLOP/s", "TFLOP/s", true, true},
               {"GB/s", "GB/s", true, true},
               {"x floor", ""},
               {"Name", "", false},
               {"Tactic", "", false},
               {"Kernels", "", false, true}},
              {},
              table.notes};
  if (!table.layers.empty()) sheet.notes.emplace_back("Share: of the mean time, so that shares add up.");
  // In the order of their shares: a layer that was slow in a few iterations may have most of the time.
  std::vector<const Layer*> order;
  for (const Layer& layer : table.layers) order.push_back(&layer);
  std::stable_sort(order.begin(), order.end(),
                   [](const Layer* a, const Layer* b) { return a->time.mean > b->time.mean; });
  constexpr double kTera = 1e12;
  constexpr double kGiga = 1e9;
  for (const Layer* layer : order) {
    sheet.rows.push_back({share_cell(table.layer_sum.mean > 0 ? layer->time.mean / table.layer_sum.mean : 0),
                          time_cell(layer->time.p50), time_cell(layer->time.p25), time_cell(layer->time.p75),
                          number_cell(layer->flops_rate() / kTera, "{:.3g}"),
                          number_cell(layer->bytes_rate() / kGiga, "{:.3g}"),
                          number_cell(layer->over_floor(), "{:.2f}"), layer_cell(layer->name),
                          text_cell(layer->tactic), kernels_of(*layer)});
  }
  if (!table.layers.empty()) {
    const bool device = table.device_busy.p50 > 0 || table.other_device.p50 > 0;
    sheet.notes.push_back(
        fmt::format("In one iteration (medians of {}): layers {}{}, host {}, all of it {}.",
                    table.layer_sum.n, time_text(table.layer_sum.p50),
                    device ? fmt::format(", other work of the device {}, device busy {}",
                                         time_text(table.other_device.p50), time_text(table.device_busy.p50))
                           : "",
                    time_text(table.host.p50), time_text(table.iteration.p50)));
  }
  return {sheet};
}

std::vector<Sheet> layer_thread_sheets(const analysis::LayerThreadTable& table) {
  if (table.layers.empty()) return {};
  Sheet sheet{fmt::format("Threads in layers, {} of them", table.threads),
              {{"Time", "ns"},
               {"Calls"},
               {"Threads at work", ""},
               {"Imbalance", "%"},
               {"IPC", ""},
               {"Misses/1000 instr.", ""},
               {"Name", "", false}},
              {},
              {"Imbalance: what the slowest thread did beyond its fair share."}};
  constexpr double kThousand = 1e3;
  for (const analysis::LayerThreads& layer : table.layers) {
    const double instructions = layer.instructions.value_or(0);
    const double cycles = layer.cycles.value_or(0);
    sheet.rows.push_back(
        {time_cell(layer.wall), count_cell(layer.calls), number_cell(layer.parallelism(), "{:.2f}"),
         share_cell(layer.imbalance), number_cell(cycles > 0 ? instructions / cycles : 0, "{:.2f}"),
         number_cell(instructions > 0 ? kThousand * layer.cache_misses.value_or(0) / instructions : 0,
                     "{:.3g}"),
         text_cell(layer.name)});
  }
  return {sheet};
}

}  // namespace hone::report
