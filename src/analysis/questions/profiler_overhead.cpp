// See profiler_overhead.hpp.
#include "analysis/questions/profiler_overhead.hpp"

#include "analysis/graph/dependencies/api_names.hpp"

namespace hone::analysis {

Intervals profiler_overhead(const trace::Trace& trace) {
  std::vector<Span> spans;
  for (const trace::HostEvent& event : trace.host_events) {
    if (event.kind == trace::HostKind::kOverhead &&
        dependencies::is_profiler_overhead(trace.text(event.name)))
      spans.push_back({event.start, event.end});
  }
  return unite(std::move(spans));
}

}  // namespace hone::analysis
