// Tables over time: steps, transfers, memory; see trace_tables.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/names.hpp"
#include "base/units.hpp"
#include "report/terminal/trace_tables.hpp"
#include "report/terminal/trend_text.hpp"

namespace hone::report {
namespace {

using analysis::kStepCategories;
using analysis::length;
using analysis::Overlap;
using analysis::StepCategory;
using base::bytes_text;
using base::share_text;
using base::time_text;

Cell time_of(trace::Time time) { return time_cell(static_cast<double>(time)); }

std::vector<Cell> summary_row(const std::string& name, const base::Summary& summary, double share) {
  return {text_cell(name),        time_cell(summary.mean), share_cell(share),      time_cell(summary.p50),
          time_cell(summary.p25), time_cell(summary.p75),  time_cell(summary.min), time_cell(summary.max)};
}

bool is_used(const analysis::StepBreakdown& steps, size_t category) {
  return std::any_of(steps.steps.begin(), steps.steps.end(),
                     [category](const analysis::StepCost& cost) { return cost.costs.at(category) != 0; });
}

/// If a program used no GPU, categories without time are left out.
bool is_shown(const analysis::StepBreakdown& steps, size_t category) {
  constexpr size_t kLastOfDevice = static_cast<size_t>(StepCategory::kMemset);
  bool device = false;
  for (size_t i = 0; i <= kLastOfDevice; ++i) device = device || is_used(steps, i);
  return device || steps.steps.empty() || is_used(steps, category);
}

Sheet category_sheet(const analysis::StepBreakdown& steps) {
  Sheet sheet{
      fmt::format("Step time breakdown, {} step{}", steps.steps.size(), steps.steps.size() == 1 ? "" : "s"),
      {{"Category", "", false},
       {"Mean", "ns"},
       {"Share", "%"},
       {"Med", "ns", true, true},
       {"25 %", "ns", true, true},
       {"75 %", "ns", true, true},
       {"Min", "ns", true, true},
       {"Max", "ns", true, true}},
      {},
      steps.notes};
  sheet.whole = true;
  if (steps.trend) sheet.notes.push_back(trend_text(steps.trend));
  sheet.rows.push_back(summary_row("step", steps.total, 1));
  for (size_t i = 0; i < kStepCategories; ++i) {
    if (!is_shown(steps, i)) continue;
    const auto category = static_cast<StepCategory>(i);
    sheet.rows.push_back(
        summary_row(std::string(category_name(category)), steps.categories.at(i), steps.share(category)));
  }
  return sheet;
}

Sheet each_step_sheet(const analysis::StepBreakdown& steps) {
  Sheet sheet{"Each step", {{"Step", "", false}, {"Length", "ns"}}, {}, {}};
  const std::vector<std::string> titles = {"Kernel",  "Memcpy",  "Memset", "Comm.",
                                           "Runtime", "Loading", "CPU",    "Other"};
  for (size_t i = 0; i < titles.size(); ++i) {
    if (is_shown(steps, i))
      sheet.columns.push_back({titles[i], "ns", true, !is_used(steps, i) || titles[i] == "Memset"});
  }
  sheet.columns.push_back({"Profiler", "ns", true, true});
  for (const analysis::StepCost& cost : steps.steps) {
    std::vector<Cell> row = {text_cell(cost.step.name), time_of(length(cost.step.span))};
    for (size_t i = 0; i < titles.size(); ++i) {
      if (is_shown(steps, i)) row.push_back(time_of(cost.costs.at(i)));
    }
    row.push_back(time_of(cost.overhead));
    sheet.rows.push_back(std::move(row));
  }
  sheet.notes.emplace_back(
      "Profiler: the part of the length that the profiler itself took, whatever it is counted as.");
  return sheet;
}

Cell rate_of(const Overlap& overlap, trace::CopyDirection direction) {
  const analysis::Traffic& traffic = overlap.directions.at(static_cast<size_t>(direction));
  return traffic.busy > 0 ? rate_cell(traffic.rate()) : no_cell();
}

std::vector<Cell> overlap_row(const Overlap& overlap) {
  return {text_cell(overlap.step),
          time_of(overlap.length),
          time_of(overlap.link_only()),
          time_of(overlap.compute_only()),
          time_of(overlap.both),
          time_of(overlap.other),
          time_of(overlap.idle),
          rate_of(overlap, trace::CopyDirection::kHostToDevice),
          rate_of(overlap, trace::CopyDirection::kDeviceToHost)};
}

double ratio(trace::Time part, trace::Time whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// Answers two questions about transfers.
std::vector<std::string> answers(const analysis::DeviceTransfers& device) {
  const Overlap& total = device.total;
  std::vector<std::string> lines;
  if (total.link == 0) return {"No copy between host and device or between devices was recorded."};
  if (total.compute > 0)
    lines.push_back(fmt::format("Is the link idle while the GPU computes? For {} of {}, {}.",
                                time_text(static_cast<double>(total.compute_only())),
                                time_text(static_cast<double>(total.compute)),
                                share_text(ratio(total.compute_only(), total.compute))));
  lines.push_back(fmt::format("Does the GPU not compute while the link works? For {} of {}, {}.",
                              time_text(static_cast<double>(total.link_only())),
                              time_text(static_cast<double>(total.link)),
                              share_text(ratio(total.link_only(), total.link))));
  if (device.hideable > 0)
    lines.push_back(fmt::format("A perfect overlap inside each step would save {} of {}, {}.",
                                time_text(static_cast<double>(device.hideable)),
                                time_text(static_cast<double>(total.length)),
                                share_text(ratio(device.hideable, total.length))));
  return lines;
}

}  // namespace

std::vector<Sheet> step_sheets(const analysis::StepBreakdown& steps) {
  std::vector<Sheet> sheets = {category_sheet(steps)};
  if (steps.announced) sheets.push_back(each_step_sheet(steps));
  return sheets;
}

std::vector<Sheet> transfer_sheets(const analysis::TransferAnalysis& transfers) {
  std::vector<Sheet> sheets;
  for (const analysis::DeviceTransfers& device : transfers.devices) {
    Sheet sheet{fmt::format("Transfers of GPU {}", device.device),
                {{"Step", "", false},
                 {"Length", "ns"},
                 {"Link only", "ns"},
                 {"Compute only", "ns"},
                 {"Both", "ns"},
                 {"Other", "ns", true, true},
                 {"Idle", "ns"},
                 {"HtoD", "B/s", true, true},
                 {"DtoH", "B/s", true, true}},
                {},
                answers(device)};
    sheet.rows.push_back(overlap_row(device.total));
    if (device.steps.size() > 1) {
      for (const Overlap& step : device.steps) sheet.rows.push_back(overlap_row(step));
    }
    sheets.push_back(std::move(sheet));
  }
  if (sheets.empty()) sheets.push_back({"Transfers", {}, {}, {"No GPU activity was recorded."}});
  return sheets;
}

std::vector<Sheet> memory_sheets(const analysis::MemoryTimeline& timeline, trace::Time origin) {
  std::vector<Sheet> sheets;
  for (const analysis::DeviceMemory& memory : timeline.devices) {
    const std::string where = memory.device < 0 ? "the host" : fmt::format("GPU {}", memory.device);
    Sheet sheet{fmt::format("Memory of {}: what was alive at the peak", where),
                {{"Bytes", "B"}, {"Share", "%"}, {"Allocations"}, {"Made by", "", false}},
                {},
                {}};
    for (const analysis::MemoryOwner& owner : memory.at_peak)
      sheet.rows.push_back({bytes_cell(static_cast<double>(owner.bytes)),
                            share_cell(ratio(owner.bytes, memory.peak)), count_cell(owner.allocations),
                            text_cell(owner.name)});
    if (memory.older_at_peak > 0)
      sheet.rows.push_back({bytes_cell(static_cast<double>(memory.older_at_peak)),
                            share_cell(ratio(memory.older_at_peak, memory.peak)), no_cell(),
                            text_cell("before the recording began")});
    sheet.notes.push_back(
        fmt::format("Peak of {} at {}, {}; {} allocations, {} frees; {} still alive at the end.",
                    bytes_text(static_cast<double>(memory.peak)),
                    time_text(static_cast<double>(memory.peak_time - origin)),
                    memory.by_allocator ? "as the allocator says" : "by adding up what was recorded",
                    memory.allocations, memory.frees, bytes_text(static_cast<double>(memory.live_at_end))));
    if (!memory.addressed)
      sheet.notes.emplace_back(
          "Addresses were not recorded, so what was alive at the peak is not known, and bytes are counted "
          "from the "
          "lowest point.");
    if (memory.reserved_peak > 0)
      sheet.notes.push_back(
          fmt::format("The allocator held up to {}.", bytes_text(static_cast<double>(memory.reserved_peak))));
    if (memory.unknown_frees > 0)
      sheet.notes.push_back(fmt::format(
          "{} frees were of memory that was allocated before the recording began.", memory.unknown_frees));
    sheets.push_back(std::move(sheet));
  }
  if (sheets.empty()) sheets.push_back({"Memory", {}, {}, {"No allocations were recorded."}});
  return sheets;
}

}  // namespace hone::report
