// The table of metrics of kernels; see trace_tables.hpp.
#include <fmt/format.h>

#include "report/terminal/trace_tables.hpp"

namespace hone::report {

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
                          unit_cell(row.min, row.unit), unit_cell(row.max, row.unit),
                          unit_cell(row.mean, row.unit), text_cell(row.unit), kernel_cell(row.kernel)});
  return {sheet};
}

}  // namespace hone::report
