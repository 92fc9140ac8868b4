// API calls, overhead and NVTX ranges of an export of Nsight Systems.
#include <algorithm>
#include <tuple>
#include <vector>

#include "trace/format/api_calls.hpp"
#include "trace/format/nsys_import.hpp"

namespace hone::trace {
namespace {

/// `eventType` of ranges that a thread pushes and pops, and of ranges that may begin and end in different
/// threads.
constexpr int64_t kPushPop = 59;
constexpr int64_t kStartEnd = 60;

struct Range {
  HostEvent event;
  bool loose = false;  // may overlap others
  bool dropped = false;
};

/// Sorted by thread, then in the order in which nested ranges are visited.
std::vector<Range> sorted_ranges(const Trace& trace, const std::vector<HostEvent>& loose) {
  std::vector<Range> ranges;
  for (const HostEvent& event : loose) ranges.push_back({event, true});
  for (const HostEvent& event : trace.host_events) {
    if (event.kind == HostKind::kRange || event.kind == HostKind::kStep) ranges.push_back({event});
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return std::tie(a.event.thread, a.event.start, b.event.end, a.loose) <
           std::tie(b.event.thread, b.event.start, a.event.end, b.loose);
  });
  return ranges;
}

/// The ranges of one thread nest in the model. Ranges that may begin in one thread and end in another need
/// not nest, so only those that cross no other range are added. Returns the number of the others.
int64_t add_nesting(Trace& trace, const std::vector<HostEvent>& loose) {
  std::vector<Range> ranges = sorted_ranges(trace, loose);
  std::vector<Range*> open;
  int64_t crossing = 0;
  for (Range& range : ranges) {
    const auto closed = [&](const Range& other) {
      return other.event.thread != range.event.thread || other.event.end <= range.event.start;
    };
    while (!open.empty() && closed(*open.back())) open.pop_back();
    while (!range.dropped && !open.empty() && open.back()->event.end < range.event.end) {
      Range& victim = range.loose ? range : *open.back();
      if (!victim.loose) break;
      victim.dropped = true;
      ++crossing;
      if (&victim != &range) open.pop_back();
    }
    if (!range.dropped) open.push_back(&range);
  }
  for (const Range& range : ranges) {
    if (range.loose && !range.dropped) trace.host_events.push_back(range.event);
  }
  return crossing;
}

}  // namespace

void read_nsys_host(NsysImport& nsys) {
  Trace& trace = nsys.trace();
  enum { kStart, kEnd, kThread, kName, kCorrelation, kResult };
  nsys.read("CUPTI_ACTIVITY_KIND_RUNTIME",
            {"start", "end", "globalTid", "nameId", "correlationId", "returnValue"}, 4,
            [&](const NsysRows& rows) {
              const std::string_view name = plain_api_name(trace.text(nsys.string(rows.id(kName))));
              HostEvent event;
              event.start = rows.integer(kStart);
              event.end = rows.integer(kEnd);
              event.kind = api_kind(name);
              event.name = trace.strings.intern(name);
              event.thread = nsys.thread(rows.integer(kThread));
              event.correlation = nsys.of_process(rows.id(kCorrelation), rows.integer(kThread));
              event.result = rows.integer(kResult);
              trace.host_events.push_back(event);
            });
  nsys.read("CUPTI_ACTIVITY_KIND_OVERHEAD", {"start", "end", "globalTid", "nameId"}, 4,
            [&](const NsysRows& rows) {
              HostEvent event;
              event.start = rows.integer(kStart);
              event.end = rows.integer(kEnd);
              event.kind = HostKind::kOverhead;
              event.name = nsys.string(rows.id(kName));
              event.thread = nsys.thread(rows.integer(kThread));
              trace.host_events.push_back(event);
            });
  nsys.read("ThreadNames", {"nameId", "globalTid"}, 2, [&](const NsysRows& rows) {
    trace.threads[static_cast<size_t>(nsys.thread(rows.integer(1)))].name = nsys.string(rows.id(0));
  });
}

void read_nsys_nvtx(NsysImport& nsys) {
  Trace& trace = nsys.trace();
  enum { kStart, kEnd, kThread, kType, kText, kTextId };
  std::vector<HostEvent> loose;
  int64_t open = 0;
  nsys.read("NVTX_EVENTS", {"start", "end", "globalTid", "eventType", "text", "textId"}, 4,
            [&](const NsysRows& rows) {
              const int64_t type = rows.integer(kType);
              if (type != kPushPop && type != kStartEnd) return;
              if (rows.is_null(kEnd)) {
                ++open;
                return;
              }
              HostEvent event;
              event.start = rows.integer(kStart);
              event.end = rows.integer(kEnd);
              event.name = rows.is_null(kText) ? nsys.string(rows.id(kTextId))
                                               : trace.strings.intern(rows.text(kText));
              event.kind =
                  trace.text(event.name).starts_with("ProfilerStep#") ? HostKind::kStep : HostKind::kRange;
              event.thread = nsys.thread(rows.integer(kThread));
              if (type == kPushPop) {
                trace.host_events.push_back(event);
              } else {
                loose.push_back(event);
              }
            });
  if (open != 0) trace.doubt(Severity::kNote, "ranges", "did not end and were left out", open);
  const int64_t crossing = add_nesting(trace, loose);
  if (crossing != 0)
    trace.doubt(Severity::kNote, "ranges", "overlapped others of their thread and were left out", crossing);
}

}  // namespace hone::trace
