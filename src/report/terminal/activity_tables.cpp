// Tables of activities and operators; see trace_tables.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/names.hpp"
#include "base/units.hpp"
#include "report/terminal/trace_tables.hpp"

namespace hone::report {
namespace {

using analysis::Activity;
using analysis::ActivityKind;

std::string size_text(const std::array<int32_t, 3>& size) {
  return fmt::format("{},{},{}", size[0], size[1], size[2]);
}

Cell name_cell(const Activity& activity) {
  return activity.kind == ActivityKind::kKernel ? kernel_cell(activity.name) : text_cell(activity.name);
}

Sheet activity_sheet(const std::string& title, const std::vector<Activity>& activities) {
  const bool shaped = std::any_of(activities.begin(), activities.end(),
                                  [](const Activity& activity) { return activity.launch.has_value(); });
  Sheet sheet{title,
              {{"Time(%)", "%"},
               {"Total", "ns"},
               {"Calls"},
               {"Avg", "ns"},
               {"Med", "ns", true, true},
               {"Min", "ns", true, true},
               {"Max", "ns", true, true},
               {"StdDev", "ns", true, true}},
              {},
              {}};
  if (shaped) sheet.columns.insert(sheet.columns.end(), {{"Grid", ""}, {"Block", ""}});
  sheet.columns.push_back({"Name", "", false});
  for (const Activity& activity : activities) {
    std::vector<Cell> row = {share_cell(activity.share),    time_cell(static_cast<double>(activity.total)),
                             count_cell(activity.times.n),  time_cell(activity.times.mean),
                             time_cell(activity.times.p50), time_cell(activity.times.min),
                             time_cell(activity.times.max), time_cell(activity.times.sd)};
    if (shaped) {
      row.push_back(activity.launch ? text_cell(size_text(activity.launch->grid)) : no_cell());
      row.push_back(activity.launch ? text_cell(size_text(activity.launch->block)) : no_cell());
    }
    row.push_back(name_cell(activity));
    sheet.rows.push_back(std::move(row));
  }
  return sheet;
}

Sheet volume_sheet(const std::vector<analysis::Volume>& volumes) {
  Sheet sheet{"Bytes moved",
              {{"Total", "B"},
               {"Count"},
               {"Avg", "B"},
               {"Med", "B", true, true},
               {"Min", "B", true, true},
               {"Max", "B", true, true},
               {"Busy", "ns"},
               {"Rate", "B/s"},
               {"Operation", "", false}},
              {},
              {}};
  for (const analysis::Volume& volume : volumes) {
    const bool copy = volume.kind == ActivityKind::kCopy;
    sheet.rows.push_back(
        {bytes_cell(static_cast<double>(volume.bytes)), count_cell(volume.sizes.n),
         bytes_cell(volume.sizes.mean), bytes_cell(volume.sizes.p50), bytes_cell(volume.sizes.min),
         bytes_cell(volume.sizes.max), time_cell(static_cast<double>(volume.busy)), rate_cell(volume.rate()),
         text_cell(copy ? fmt::format("[CUDA memcpy {}]", analysis::direction_name(volume.direction))
                        : "[CUDA memset]")});
  }
  return sheet;
}

}  // namespace

Cell kernel_cell(const std::string& recorded) {
  return {analysis::without_parameters(recorded), recorded, analysis::brief_name(recorded)};
}

std::vector<Sheet> summary_sheets(const analysis::ActivitySummary& summary) {
  std::vector<Sheet> sheets;
  // Tables of a program that ran only on the CPU do not mention a GPU.
  const bool nothing = summary.calls.empty() && summary.ranges.empty() && summary.thread_calls.empty();
  if (!summary.gpu.empty() || nothing) sheets.push_back(activity_sheet("GPU activities", summary.gpu));
  if (summary.gpu.empty() && nothing) sheets.front().notes.emplace_back("No GPU activity was recorded.");
  if (!summary.volumes.empty()) sheets.push_back(volume_sheet(summary.volumes));
  if (!summary.calls.empty()) sheets.push_back(activity_sheet("API calls", summary.calls));
  if (!summary.ranges.empty()) sheets.push_back(activity_sheet("Ranges", summary.ranges));
  if (!summary.thread_calls.empty()) sheets.push_back(activity_sheet("Thread calls", summary.thread_calls));
  return sheets;
}

std::vector<Sheet> operator_sheets(const analysis::OperatorTable& table) {
  Sheet sheet{"Operators",
              {{"Device Self", "ns"},
               {"Device Total", "ns"},
               {"Host Self", "ns"},
               {"Host Total", "ns"},
               {"Calls"},
               {"Tensor Cores", "%", true, true},
               {"Name", "", false}},
              {},
              {}};
  const bool device =
      table.rows.empty() || std::any_of(table.rows.begin(), table.rows.end(),
                                        [](const auto& row) { return row.device_total != 0; });
  if (!device) sheet.columns = {{"Host Self", "ns"}, {"Host Total", "ns"}, {"Calls"}, {"Name", "", false}};
  const bool shaped = std::any_of(table.rows.begin(), table.rows.end(),
                                  [](const analysis::OperatorRow& row) { return !row.input_shapes.empty(); });
  if (shaped) sheet.columns.push_back({"Input Shapes", "", false});
  for (const analysis::OperatorRow& row : table.rows) {
    const auto self = static_cast<double>(row.device_self);
    std::vector<Cell> cells = {time_cell(static_cast<double>(row.host_self)),
                               time_cell(static_cast<double>(row.host_total)), count_cell(row.calls)};
    if (device) {
      cells.insert(cells.begin(), {time_cell(self), time_cell(static_cast<double>(row.device_total))});
      cells.push_back(self > 0 ? share_cell(static_cast<double>(row.device_tensor) / self) : no_cell());
    }
    cells.push_back(text_cell(row.name));
    sheet.rows.push_back(std::move(cells));
    if (shaped) sheet.rows.back().push_back(text_cell(row.input_shapes));
  }
  if (table.rows.empty()) sheet.notes.emplace_back("No operators were recorded.");
  if (!table.rows.empty() && table.unjoined_events > 0)
    sheet.notes.push_back(fmt::format("{} device events of {} in all were launched by no operator.",
                                      table.unjoined_events,
                                      base::time_text(static_cast<double>(table.unjoined_time))));
  return {sheet};
}

}  // namespace hone::report
