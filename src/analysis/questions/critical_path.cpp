// See critical_path.hpp.
#include "analysis/questions/critical_path.hpp"

#include <algorithm>

#include "analysis/questions/function_table.hpp"
#include "analysis/schema/critical_path.hpp"
#include "base/error.hpp"

namespace hone::analysis {
namespace {

constexpr size_t kMaximumJsonSegments = 20'000;

/// Adjacent charges of the same sort on the same thread become one segment.
std::vector<PathSegment> segments_of(const EventGraph& graph, const std::vector<Charge>& charges,
                                     FunctionTable& table) {
  std::vector<PathSegment> segments;
  for (size_t i = charges.size(); i-- > 0;) {
    const Charge& charge = charges[i];
    const int32_t function = table.number(charge.kind, charge.name);
    table[function].on_path += charge.span.end - charge.span.start;
    if (!segments.empty() && segments.back().function == function && charge.operation < 0 &&
        segments.back().operation < 0 && segments.back().thread == charge.thread) {
      segments.back().span.end = charge.span.end;
      continue;
    }
    const int32_t event =
        charge.operation < 0 ? -1 : graph.operations[static_cast<size_t>(charge.operation)].event;
    segments.push_back({charge.span, function, charge.thread, charge.operation, event});
  }
  return segments;
}

void check(const CriticalPath& path) {
  Time at = path.window.start;
  for (const PathSegment& segment : path.segments) {
    if (segment.span.start != at)
      fail_internal("the critical path has a hole or an overlap at {} ns, where a segment begins at {} ns",
                    at, segment.span.start);
    at = segment.span.end;
  }
  Time sum = 0;
  for (const FunctionTime& row : path.functions) sum += row.on_path;
  if (at != path.window.end || sum != path.wall)
    fail_internal("the critical path has {} ns of a wall time of {} ns", sum, path.wall);
}

}  // namespace

CriticalPath critical_path(const EventGraph& graph) {
  CriticalPath path;
  path.window = graph.window;
  path.wall = graph.window.end - graph.window.start;
  path.clock = graph.clock;
  path.doubts = graph.doubts;
  FunctionTable table(graph);
  path.segments = segments_of(graph, walk_from_end(graph), table);
  add_waiting(graph, table);
  add_blame(graph, table);
  const std::vector<int32_t> places = table.sort();
  for (PathSegment& segment : path.segments) segment.function = places[static_cast<size_t>(segment.function)];
  path.functions = table.take();
  for (FunctionTime& row : path.functions) {
    row.share = path.wall > 0 ? static_cast<double>(row.on_path) / static_cast<double>(path.wall) : 0;
    path.waiting += row.waiting;
    if (row.kind == ChargeKind::kProfiler) path.profiler_overhead += row.on_path;
  }
  check(path);
  return path;
}

CriticalPath critical_path(const trace::Trace& trace) { return critical_path(build_event_graph(trace)); }

namespace {

/// The indices of the longest segments, in order of time.
std::vector<size_t> longest_indices(const CriticalPath& path) {
  std::vector<size_t> chosen(path.segments.size());
  for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
  if (chosen.size() <= kMaximumJsonSegments) return chosen;
  const auto length = [&](size_t i) { return path.segments[i].span.end - path.segments[i].span.start; };
  std::nth_element(chosen.begin(), chosen.begin() + kMaximumJsonSegments, chosen.end(),
                   [&](size_t a, size_t b) { return std::pair(-length(a), a) < std::pair(-length(b), b); });
  chosen.resize(kMaximumJsonSegments);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

SegmentTable longest_segments(const CriticalPath& path) {
  const std::vector<size_t> chosen = longest_indices(path);
  SegmentTable table{{}, path.segments.size() - chosen.size()};
  for (const size_t i : chosen) {
    const PathSegment& segment = path.segments[i];
    table.rows.push_back(
        {segment.span.start, segment.span.end, segment.function, segment.thread, segment.event});
  }
  return table;
}

Json to_json(const CriticalPath& path) { return base::described_json(path); }

}  // namespace hone::analysis
