// See pipeline_trace.hpp.
#include "record/pipeline_trace.hpp"

#include <unistd.h>

#include "base/clock.hpp"

namespace hone::record {

trace::Trace pipeline_trace(const std::vector<task::StageTimes>& stages, const task::PipelineReport& report,
                            const std::string& statistics) {
  trace::Trace trace;
  const auto process = static_cast<int64_t>(::getpid());
  for (const task::StageTimes& stage : stages) {
    const int32_t thread = trace.thread_index(process, stage.thread);
    const trace::StringId name = trace.strings.intern(stage.name);
    trace.threads[static_cast<size_t>(thread)].name = name;
    for (const task::StageSpan& span : stage.spans) {
      trace::HostEvent event;
      event.start = span.start;
      event.end = span.end;
      event.kind = trace::HostKind::kRange;
      event.name = name;
      event.thread = thread;
      trace.host_events.push_back(event);
    }
  }
  trace.metadata["program"] = "hone detect";
  trace.metadata["model"] = report.model;
  trace.metadata["backend"] = report.backend;
  trace.metadata["precision"] = report.precision;
  if (!report.device.empty()) trace.metadata["device"] = report.device;
  trace.metadata["batch"] = std::to_string(report.batch);
  trace.metadata["recorded_at"] = base::utc_date();
  trace.metadata["utc_epoch_ns"] = std::to_string(base::utc_ns() - base::monotonic_ns());
  trace.metadata[task::kPipelineEntry] = statistics;
  trace::normalize(trace);
  return trace;
}

void add_pipeline(const trace::Trace& stages, trace::Trace* trace) {
  for (trace::HostEvent event : stages.host_events) {
    const trace::Thread& from = stages.threads[static_cast<size_t>(event.thread)];
    event.thread = trace->thread_index(from.process, from.id);
    trace->threads[static_cast<size_t>(event.thread)].name = trace->strings.intern(stages.text(from.name));
    event.name = trace->strings.intern(stages.text(event.name));
    trace->host_events.push_back(event);
  }
  for (const auto& [key, value] : stages.metadata) trace->metadata[key] = value;
  trace::normalize(*trace);
}

}  // namespace hone::record
