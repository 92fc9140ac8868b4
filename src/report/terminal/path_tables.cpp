// See path_tables.hpp.
#include "report/terminal/path_tables.hpp"

#include <fmt/format.h>

#include "analysis/names.hpp"
#include "base/units.hpp"
#include "report/terminal/trace_tables.hpp"

namespace hone::report {
namespace {

using analysis::ChangeKind;
using analysis::IdleCause;
using base::time_text;

Cell time_of(trace::Time time) { return time_cell(static_cast<double>(time)); }

std::string change_text(const analysis::WhatIf& change) {
  switch (change.kind) {
    case ChangeKind::kFaster:
      return change.factor > 0 ? fmt::format("{:g} times as fast: ", change.factor) : "in no time: ";
    case ChangeKind::kOverlapCopies: return "copies that overlap other work";
    case ChangeKind::kNoWait: return "without waiting: ";
  }
  return "";
}

/// The change comes before the name, because the end of the cell may be cut.
Cell change_cell(const analysis::WhatIf& change) {
  const Cell name = change.kind == ChangeKind::kFaster ? kernel_cell(change.name) : text_cell(change.name);
  const std::string bound = change.is_bound ? " (at best)" : "";
  const std::string before = change_text(change);
  return {before + name.text + bound, before + name.plain + bound,
          name.shorter.empty() ? "" : before + name.shorter + bound};
}

const char* cause_text(IdleCause cause) {
  switch (cause) {
    case IdleCause::kHostCall: return "host in a call";
    case IdleCause::kHostOther: return "host outside of calls";
    case IdleCause::kProfiler: return "profiler";
    case IdleCause::kHostFunction: return "host function";
    case IdleCause::kOtherDevice: return "another device";
    case IdleCause::kLaunchLatency: return "launch latency";
    case IdleCause::kQueueGap: return "gap in the queue";
    case IdleCause::kBeforeFirst: return "before the first operation";
    case IdleCause::kAfterLast: return "after the last operation";
    case IdleCause::kUnknown: break;
  }
  return "unknown";
}

/// Functions in the form of nvprof; without parameters and namespaces if there is little room.
Cell function_cell(const analysis::FunctionTime& row) {
  if (row.kind != analysis::ChargeKind::kKernel) return text_cell(row.name);
  return {row.name, row.name, analysis::brief_name(row.name)};
}

}  // namespace

std::vector<Sheet> dependency_sheets(const analysis::CriticalPath& path, const analysis::WhatIfs& what_ifs) {
  Sheet functions{"Critical path",
                  {{"Critical path(%)", "%"},
                   {"Critical path", "ns"},
                   {"Waiting time", "ns"},
                   {"Name", "", false},
                   {"Blame", "ns"},
                   {"Calls"}},
                  {},
                  {}};
  for (const analysis::FunctionTime& row : path.functions)
    functions.rows.push_back({share_cell(row.share), time_of(row.on_path), time_of(row.waiting),
                              function_cell(row), time_of(row.blame), count_cell(row.calls)});
  functions.notes.push_back(fmt::format(
      "The path is {} long, all of the wall time; {} of it is the profiler's own. Waiting: blocked by other "
      "work; blame: waiting of others for this.",
      time_text(static_cast<double>(path.wall)), time_text(static_cast<double>(path.profiler_overhead))));
  for (const trace::Doubt& doubt : path.doubts)
    functions.notes.push_back(fmt::format(
        "{}: {}{}", doubt.about, doubt.count > 0 ? fmt::format("{} ", doubt.count) : "", doubt.text));

  Sheet changes{"What if", {{"Gain", "ns"}, {"Share of wall time", "%"}, {"Change", "", false}}, {}, {}};
  for (const analysis::WhatIf& change : what_ifs.rows)
    changes.rows.push_back({time_of(change.gain), share_cell(change.share), change_cell(change)});
  if (changes.rows.empty()) return {functions};
  changes.notes.emplace_back(
      "From replaying the program's dependencies with that one change; gains overlap.");
  return {functions, changes};
}

std::vector<Sheet> idle_sheets(const analysis::IdleTime& idle) {
  std::vector<Sheet> sheets;
  for (const analysis::DeviceIdle& device : idle.devices) {
    Sheet sheet{fmt::format("Idle time of GPU {}", device.device),
                {{"Share", "%"}, {"Time", "ns"}, {"Gaps"}, {"Cause", "", false}, {"Name", "", false}},
                {},
                {}};
    for (const analysis::IdleRow& row : device.rows)
      sheet.rows.push_back({share_cell(row.share), time_of(row.time), count_cell(row.gaps),
                            text_cell(cause_text(row.cause)), text_cell(row.name)});
    sheet.notes.push_back(fmt::format("Busy {}, idle {} in {} intervals, the longest {}.",
                                      time_text(static_cast<double>(device.busy)),
                                      time_text(static_cast<double>(device.idle)), device.gaps,
                                      time_text(static_cast<double>(device.longest))));
    sheets.push_back(std::move(sheet));
  }
  if (sheets.empty()) sheets.push_back({"Idle time", {{"", "", false}}, {}, {"No device did anything."}});
  return sheets;
}

}  // namespace hone::report
