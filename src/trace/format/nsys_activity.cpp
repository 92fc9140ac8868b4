// Reads GPU activity, waits and events from an export of Nsight Systems (tables of CUPTI's kinds of
// activity).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trace/format/nsys_import.hpp"
#include "trace/format/nsys_names.hpp"
#include "trace/transfer_names.hpp"

namespace hone::trace {
namespace {

/// Columns with which all these tables begin.
enum Common { kStart, kEnd, kDevice, kContext, kStream, kCorrelation, kProcess, kFirstOwn };

std::vector<const char*> with_common(std::initializer_list<const char*> own) {
  std::vector<const char*> columns{"start",    "end",           "deviceId", "contextId",
                                   "streamId", "correlationId", "globalPid"};
  columns.insert(columns.end(), own);
  return columns;
}

/// Start and end; a row without them is useless.
constexpr size_t kRequired = 2;

/// kNone if there is no graph.
int64_t positive(int64_t id) { return id > 0 ? id : kNone; }

DeviceEvent common(NsysImport& nsys, const NsysRows& rows, DeviceKind kind) {
  DeviceEvent event;
  event.start = rows.integer(kStart);
  event.end = rows.integer(kEnd);
  event.kind = kind;
  event.device = rows.small(kDevice);
  event.context = nsys.of_process(rows.id(kContext), rows.integer(kProcess));
  event.stream = rows.id(kStream);
  event.correlation = nsys.of_process(rows.id(kCorrelation), rows.integer(kProcess));
  return event;
}

void read_kernels(NsysImport& nsys) {
  Trace& trace = nsys.trace();
  enum {
    kDemangled = kFirstOwn,
    kShort,
    kRegisters,
    kGrid,
    kBlock = kGrid + 3,
    kCluster = kBlock + 3,
    kStatic = kCluster + 3,
    kDynamic,
    kLocal,
    kGraphNode,
    kGraph
  };
  nsys.read(
      "CUPTI_ACTIVITY_KIND_KERNEL",
      with_common({"demangledName", "shortName", "registersPerThread", "gridX", "gridY", "gridZ", "blockX",
                   "blockY", "blockZ", "clusterX", "clusterY", "clusterZ", "staticSharedMemory",
                   "dynamicSharedMemory", "localMemoryPerThread", "graphNodeId", "graphId"}),
      kRequired, [&](const NsysRows& rows) {
        DeviceEvent event = common(nsys, rows, DeviceKind::kKernel);
        event.name = nsys.string(rows.is_null(kDemangled) ? rows.id(kShort) : rows.id(kDemangled));
        event.graph_node = positive(rows.id(kGraphNode));
        event.graph = positive(rows.id(kGraph));
        KernelLaunch launch;
        for (int i = 0; i < 3; ++i) {
          launch.grid[static_cast<size_t>(i)] = rows.small(kGrid + i);
          launch.block[static_cast<size_t>(i)] = rows.small(kBlock + i);
          launch.cluster[static_cast<size_t>(i)] = rows.small(kCluster + i);
        }
        launch.registers_per_thread = rows.small(kRegisters);
        launch.static_shared_bytes = rows.integer(kStatic);
        launch.dynamic_shared_bytes = rows.integer(kDynamic);
        launch.local_bytes_per_thread = rows.integer(kLocal);
        event.detail = static_cast<int32_t>(trace.launches.size());
        trace.launches.push_back(launch);
        trace.device_events.push_back(event);
      });
}

void add_transfer(NsysImport& nsys, DeviceEvent event, const Transfer& transfer) {
  Trace& trace = nsys.trace();
  event.name = trace.strings.intern(transfer_name(event.kind, transfer));
  event.detail = static_cast<int32_t>(trace.transfers.size());
  trace.transfers.push_back(transfer);
  trace.device_events.push_back(event);
}

void read_transfers(NsysImport& nsys) {
  enum { kBytes = kFirstOwn, kGraphNode, kCopyKind, kSource, kDestination, kMemory = kCopyKind };
  nsys.read("CUPTI_ACTIVITY_KIND_MEMCPY",
            with_common({"bytes", "graphNodeId", "copyKind", "srcKind", "dstKind"}), kRequired,
            [&](const NsysRows& rows) {
              DeviceEvent event = common(nsys, rows, DeviceKind::kCopy);
              event.graph_node = positive(rows.id(kGraphNode));
              Transfer transfer;
              transfer.bytes = rows.integer(kBytes);
              transfer.direction = nsys_direction(nsys, rows.id(kCopyKind));
              transfer.source = nsys_memory_kind(nsys, rows.id(kSource));
              transfer.destination = nsys_memory_kind(nsys, rows.id(kDestination));
              add_transfer(nsys, event, transfer);
            });
  nsys.read("CUPTI_ACTIVITY_KIND_MEMSET", with_common({"bytes", "graphNodeId", "memKind"}), kRequired,
            [&](const NsysRows& rows) {
              DeviceEvent event = common(nsys, rows, DeviceKind::kSet);
              event.graph_node = positive(rows.id(kGraphNode));
              Transfer transfer;
              transfer.bytes = rows.integer(kBytes);
              transfer.destination = nsys_memory_kind(nsys, rows.id(kMemory));
              add_transfer(nsys, event, transfer);
            });
}

/// Each launch of a graph is recorded as one block, unless the user asked for its nodes.
void read_whole_graphs(NsysImport& nsys) {
  Trace& trace = nsys.trace();
  int64_t count = 0;
  nsys.read(
      "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", with_common({"graphId"}), kRequired, [&](const NsysRows& rows) {
        DeviceEvent event = common(nsys, rows, DeviceKind::kKernel);
        event.graph = positive(rows.id(kFirstOwn));
        event.name = trace.strings.intern(event.graph == kNone ? "CUDA graph"
                                                               : fmt::format("CUDA graph {}", event.graph));
        trace.device_events.push_back(event);
        ++count;
      });
  if (count != 0)
    trace.doubt(
        Severity::kDoubt, "kernels",
        "of CUDA graphs were recorded as one block a launch; `nsys profile --cuda-graph-trace=node` records "
        "each",
        count);
}

void read_waits(NsysImport& nsys) {
  Trace& trace = nsys.trace();
  enum { kType = kFirstOwn, kEvent, kRecord };
  int64_t unknown = 0;
  nsys.read("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", with_common({"syncType", "eventId", "eventSyncId"}),
            kRequired, [&](const NsysRows& rows) {
              // A CUpti_ActivitySynchronizationType, counted from 1.
              const int64_t type = rows.integer(kType);
              if (type < 1 || type > 4) {
                ++unknown;
                return;
              }
              const DeviceEvent place = common(nsys, rows, DeviceKind::kKernel);
              Synchronization wait;
              wait.start = place.start;
              wait.end = place.end;
              wait.kind = static_cast<SyncKind>(type - 1);
              wait.device = place.device;
              wait.context = place.context;
              wait.stream = std::in_range<int32_t>(place.stream) ? place.stream : kNone;
              wait.event = positive(rows.id(kEvent));
              wait.event_record = nsys.of_process(positive(rows.id(kRecord)), rows.integer(kProcess));
              wait.correlation = place.correlation;
              trace.synchronizations.push_back(wait);
            });
  if (unknown != 0) trace.doubt(Severity::kNote, "waits", "of unknown kinds were left out", unknown);
}

void read_event_records(NsysImport& nsys) {
  Trace& trace = nsys.trace();
  enum {
    kEvent,
    kRecord,
    kTime,
    kEventDevice,
    kEventContext,
    kEventStream,
    kEventCorrelation,
    kEventProcess
  };
  nsys.read("CUPTI_ACTIVITY_KIND_CUDA_EVENT",
            {"eventId", "eventSyncId", "timestamp", "deviceId", "contextId", "streamId", "correlationId",
             "globalPid"},
            1, [&](const NsysRows& rows) {
              const int64_t process = rows.integer(kEventProcess);
              EventRecord record;
              record.correlation = nsys.of_process(rows.id(kEventCorrelation), process);
              const int64_t id = positive(rows.id(kRecord));
              record.id = id == kNone ? record.correlation : nsys.of_process(id, process);
              record.event = rows.id(kEvent);
              record.device = rows.small(kEventDevice);
              record.context = nsys.of_process(rows.id(kEventContext), process);
              record.stream = rows.id(kEventStream);
              record.completed = positive(rows.id(kTime));
              trace.event_records.push_back(record);
            });
}

void note_what_waits_lack(Trace& trace) {
  const auto of_events = [](const Synchronization& wait) {
    return wait.kind == SyncKind::kStreamWaitEvent || wait.kind == SyncKind::kEventSynchronize;
  };
  const auto waits = std::count_if(trace.synchronizations.begin(), trace.synchronizations.end(), of_events);
  if (waits != 0 && trace.event_records.empty())
    trace.doubt(
        Severity::kDoubt, "waits",
        "are for events whose records are missing; `nsys profile --cuda-event-trace=true` records them",
        waits);
}

}  // namespace

void read_nsys_activity(NsysImport& nsys) {
  read_kernels(nsys);
  read_transfers(nsys);
  read_whole_graphs(nsys);
  read_waits(nsys);
  read_event_records(nsys);
  note_what_waits_lack(nsys.trace());
}

}  // namespace hone::trace
