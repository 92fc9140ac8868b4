// See nsys_reader.hpp.
#include "trace/format/nsys_reader.hpp"

#include <set>
#include <utility>

#include "base/error.hpp"
#include "trace/format/api_calls.hpp"
#include "trace/format/nsys_import.hpp"

namespace hone::trace {
namespace {

/// Adds rows for contexts and streams that events name but no table describes.
void complete_streams(Trace& trace) {
  std::set<int64_t> contexts{kNone};
  for (const Context& context : trace.contexts) contexts.insert(context.id);
  std::set<std::pair<int64_t, int64_t>> streams;
  for (const Stream& stream : trace.streams) streams.insert({stream.context, stream.id});
  for (const DeviceEvent& event : trace.device_events) {
    if (contexts.insert(event.context).second)
      trace.contexts.push_back({event.context, event.device, 0, kNone});
    if (event.stream != kNone && streams.insert({event.context, event.stream}).second)
      trace.streams.push_back({event.context, event.stream, StreamKind::kUnknown, 0});
  }
}

}  // namespace

bool is_nsys_export(SqliteDatabase& database) {
  if (!database.has_table("StringIds")) return false;
  for (const char* table : {"META_DATA_EXPORT", "META_DATA_CAPTURE", "TARGET_INFO_SESSION_START_TIME",
                            "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"}) {
    if (database.has_table(table)) return true;
  }
  return false;
}

Trace read_nsys(SqliteDatabase& database) {
  if (!is_nsys_export(database)) fail_bad_input("{}: no export of Nsight Systems", database.file());
  Trace trace;
  NsysImport nsys(database, trace);
  read_nsys_target(nsys);
  read_nsys_activity(nsys);
  read_nsys_host(nsys);
  read_nsys_nvtx(nsys);
  read_nsys_metrics(nsys);
  complete_streams(trace);
  mark_asynchronous(trace);
  if (!database.damage().empty()) trace.doubt(Severity::kLoss, "file", database.damage(), 0);
  normalize(trace);
  return trace;
}

}  // namespace hone::trace
