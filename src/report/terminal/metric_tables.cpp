// The table of metrics of kernels; see trace_tables.hpp.
#include <fmt/format.h>

#include "report/terminal/trace_tables.hpp"

namespace hone::report {
namespace {

Cell value_cell(double value) { return text_cell(fmt::format("{:.6g}", value)); }

}  // namespace

std::vector<Sheet> metric_sheets(const analysis::KernelMetricTable& table) {
  if (table.rows.empty()) return {};
  Sheet sheet{fmt::format("Metrics of {} launches of kernels", table.launches),
              {{"GPU"},
               {"Invocations"},
               {"Metric", "", false},
               {"Min", "", true, true},
               {"Max", "", true, true},
               {"Avg"},
               {"Unit", "", false},
               {"Kernel", "", false}},
              {},
              {}};
  for (const analysis::KernelMetricRow& row : table.rows)
    sheet.rows.push_back({count_cell(row.device), count_cell(row.invocations), text_cell(row.metric),
                          value_cell(row.min), value_cell(row.max), value_cell(row.mean), text_cell(row.unit),
                          kernel_cell(row.kernel)});
  return {sheet};
}

}  // namespace hone::report
