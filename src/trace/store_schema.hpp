// The tables of the store: one list of columns per row type, from which they are created, written, read and
// documented.
#pragma once

#include <string_view>
#include <tuple>

#include "trace/trace.hpp"

namespace hone::trace {

/// A member of a row, or an element of an array in it (`index`).
template <class Row, class Member>
struct Column {
  std::string_view name;
  Member Row::*member;
  std::string_view note;
  int index = 0;
};

// clang 14 cannot deduce template arguments of aggregates by itself.
template <class Row, class Member>
Column(std::string_view, Member Row::*, std::string_view, int = 0) -> Column<Row, Member>;

template <class Row, class... Members>
struct Table {
  std::string_view name;
  std::string_view about;
  std::tuple<Column<Row, Members>...> columns;
};

template <class Row, class... Members>
Table(std::string_view, std::string_view, std::tuple<Column<Row, Members>...>) -> Table<Row, Members...>;

inline const Table kThreadTable{
    "threads", "Threads of processes; other tables refer to them by rowid - 1.",
    std::tuple{Column{"process", &Thread::process, "process id"}, Column{"id", &Thread::id, "thread id"},
               Column{"name", &Thread::name, "strings.id"}}};

inline const Table kDeviceTable{
    "devices", "GPUs.",
    std::tuple{
        Column{"id", &DeviceProperties::id, ""}, Column{"name", &DeviceProperties::name, "strings.id"},
        Column{"memory_bytes", &DeviceProperties::memory_bytes, ""},
        Column{"compute_major", &DeviceProperties::compute_major, "compute capability"},
        Column{"compute_minor", &DeviceProperties::compute_minor, ""},
        Column{"multiprocessors", &DeviceProperties::multiprocessors, ""},
        Column{"warp_size", &DeviceProperties::warp_size, ""},
        Column{"threads_per_multiprocessor", &DeviceProperties::threads_per_multiprocessor, ""},
        Column{"registers_per_multiprocessor", &DeviceProperties::registers_per_multiprocessor, ""},
        Column{"shared_bytes_per_multiprocessor", &DeviceProperties::shared_bytes_per_multiprocessor, ""},
        Column{"blocks_per_multiprocessor", &DeviceProperties::blocks_per_multiprocessor, ""},
        Column{"uuid", &DeviceProperties::uuid, "strings.id"}}};

inline const Table kContextTable{
    "contexts", "CUDA contexts.",
    std::tuple{Column{"id", &Context::id, ""}, Column{"device", &Context::device, "devices.id"},
               Column{"process", &Context::process, "process id"},
               Column{"null_stream", &Context::null_stream, "streams.id"}}};

inline const Table kStreamTable{
    "streams", "CUDA streams.",
    std::tuple{Column{"context", &Stream::context, "contexts.id"}, Column{"id", &Stream::id, ""},
               Column{"kind", &Stream::kind, "0 blocking, 1 non-blocking, 2 legacy default, 3 unknown"},
               Column{"priority", &Stream::priority, ""}}};

inline const Table kHostTable{
    "host_events", "Calls, ranges and other events of threads.",
    std::tuple{
        Column{"start", &HostEvent::start, "ns"}, Column{"end", &HostEvent::end, "ns"},
        Column{"kind", &HostEvent::kind,
               "0 operator, 1 range, 2 iteration, 3 engine step, 4 runtime API, 5 driver API, 6 Python, 7 "
               "overhead, 8 host function, 9 threads API"},
        Column{"name", &HostEvent::name, "strings.id"},
        Column{"thread", &HostEvent::thread, "threads.rowid - 1"},
        Column{"correlation", &HostEvent::correlation,
               "joins API calls to the operations that they launched; -1 none"},
        Column{"external_id", &HostEvent::external_id, "joins API calls to operators; -1 none"},
        Column{"detail", &HostEvent::detail, "operators.rowid - 1; -1 none"},
        Column{"result", &HostEvent::result, "what an API call returned"}}};

inline const Table kOperatorTable{
    "operators", "Operator calls that a framework recorded.",
    std::tuple{Column{"input_shapes", &OperatorDetail::input_shapes, "strings.id, JSON"},
               Column{"input_types", &OperatorDetail::input_types, "strings.id, JSON"},
               Column{"call_stack", &OperatorDetail::call_stack, "strings.id"},
               Column{"module", &OperatorDetail::module, "strings.id"},
               Column{"sequence", &OperatorDetail::sequence, "autograd's number; -1 none"}}};

inline const Table kDeviceEventTable{
    "device_events", "Kernels, copies and sets on GPUs.",
    std::tuple{Column{"start", &DeviceEvent::start, "ns"}, Column{"end", &DeviceEvent::end, "ns"},
               Column{"kind", &DeviceEvent::kind, "0 kernel, 1 copy, 2 set"},
               Column{"name", &DeviceEvent::name, "strings.id"},
               Column{"device", &DeviceEvent::device, "devices.id"},
               Column{"context", &DeviceEvent::context, "contexts.id"},
               Column{"stream", &DeviceEvent::stream, "streams.id"},
               Column{"correlation", &DeviceEvent::correlation, "host_events.correlation; -1 none"},
               Column{"graph_node", &DeviceEvent::graph_node, "graph_nodes.id; -1 outside CUDA graphs"},
               Column{"graph", &DeviceEvent::graph, "-1 outside CUDA graphs"},
               Column{"channel", &DeviceEvent::channel, "hardware queue; -1 unknown"},
               Column{"channel_type", &DeviceEvent::channel_type,
                      "1 compute, 2 copies, 3 decompression; -1 unknown"},
               Column{"detail", &DeviceEvent::detail, "launches.rowid - 1 or transfers.rowid - 1; -1 none"}}};

inline const Table kLaunchTable{
    "launches", "How kernels were launched; 0 where not recorded.",
    std::tuple{
        Column{"grid_x", &KernelLaunch::grid, "blocks", 0}, Column{"grid_y", &KernelLaunch::grid, "", 1},
        Column{"grid_z", &KernelLaunch::grid, "", 2}, Column{"block_x", &KernelLaunch::block, "threads", 0},
        Column{"block_y", &KernelLaunch::block, "", 1}, Column{"block_z", &KernelLaunch::block, "", 2},
        Column{"cluster_x", &KernelLaunch::cluster, "blocks", 0},
        Column{"cluster_y", &KernelLaunch::cluster, "", 1},
        Column{"cluster_z", &KernelLaunch::cluster, "", 2},
        Column{"registers_per_thread", &KernelLaunch::registers_per_thread, ""},
        Column{"static_shared_bytes", &KernelLaunch::static_shared_bytes, "a block"},
        Column{"dynamic_shared_bytes", &KernelLaunch::dynamic_shared_bytes, "a block"},
        Column{"local_bytes_per_thread", &KernelLaunch::local_bytes_per_thread, ""},
        Column{"programmatic", &KernelLaunch::programmatic,
               "1 when it may start before its predecessor ends"},
        Column{"recorded_occupancy", &KernelLaunch::recorded_occupancy,
               "per cent, estimate of the recorder; -1 none"},
        Column{"collective", &KernelLaunch::collective, "strings.id"},
        Column{"tensor_use", &KernelLaunch::tensor_use,
               "whether the kernel's code holds instructions for Tensor Cores: 0 unknown, 1 no, 2 yes"}}};

inline const Table kTransferTable{
    "transfers", "Directions, sizes and kinds of memory of copies and sets.",
    std::tuple{
        Column{"bytes", &Transfer::bytes, ""},
        Column{"direction", &Transfer::direction,
               "0 unknown, 1 host to device, 2 device to host, 3 device to device, 4 host to host, 5 peer to "
               "peer"},
        Column{"source", &Transfer::source, "0 unknown, 1 pageable, 2 pinned, 3 device, 4 array, 5 managed"},
        Column{"destination", &Transfer::destination, "as source"},
        Column{"asynchronous", &Transfer::asynchronous, "1 when asked for asynchronously"}}};

inline const Table kSynchronizationTable{
    "synchronizations", "Waits of the host, and of streams for events.",
    std::tuple{
        Column{"start", &Synchronization::start, "ns"}, Column{"end", &Synchronization::end, "ns"},
        Column{"kind", &Synchronization::kind,
               "0 event synchronize, 1 stream wait event, 2 stream synchronize, 3 context synchronize"},
        Column{"device", &Synchronization::device, "devices.id"},
        Column{"context", &Synchronization::context, "contexts.id"},
        Column{"stream", &Synchronization::stream, "that waited or was waited for; -1 all"},
        Column{"event", &Synchronization::event, "-1 none"},
        Column{"event_record", &Synchronization::event_record, "event_records.id; -1 unknown"},
        Column{"correlation", &Synchronization::correlation, "host_events.correlation"}}};

inline const Table kEventRecordTable{
    "event_records", "Calls of cudaEventRecord.",
    std::tuple{Column{"id", &EventRecord::id, ""},
               Column{"event", &EventRecord::event, "used again and again"},
               Column{"device", &EventRecord::device, "devices.id"},
               Column{"context", &EventRecord::context, "contexts.id"},
               Column{"stream", &EventRecord::stream, "streams.id"},
               Column{"correlation", &EventRecord::correlation, "host_events.correlation"},
               Column{"completed", &EventRecord::completed, "ns, on the device; -1 unknown"}}};

inline const Table kThreadSyncTable{
    "thread_syncs", "Synchronization between threads: signals, and waits for them.",
    std::tuple{
        Column{"start", &ThreadSync::start, "ns"}, Column{"end", &ThreadSync::end, "ns"},
        Column{"operation", &ThreadSync::operation,
               "0 create, 1 start, 2 exit, 3 join, 4 unlock, 5 lock, 6 signal or broadcast, 7 condition "
               "wait, 8 post, 9 semaphore wait"},
        Column{"thread", &ThreadSync::thread, "threads.rowid - 1"},
        Column{"object", &ThreadSync::object,
               "address of the mutex, condition or semaphore; pthread_t of the thread"}}};

inline const Table kGraphNodeTable{
    "graph_nodes", "Nodes of instantiated CUDA graphs.",
    std::tuple{Column{"id", &GraphNode::id, "device_events.graph_node"},
               Column{"graph", &GraphNode::graph, ""},
               Column{"original", &GraphNode::original, "the node it was cloned from; -1 unknown"},
               Column{"range", &GraphNode::range, "strings.id: the range in which it was created"}}};

inline const Table kGraphEdgeTable{
    "graph_edges", "Dependencies inside CUDA graphs.",
    std::tuple{Column{"from_node", &GraphEdge::from, "graph_nodes.id"},
               Column{"to_node", &GraphEdge::to, "graph_nodes.id: runs after it"}}};

inline const Table kModelStepTable{
    "model_steps", "Steps of the recorded engine, in the order in which they run.",
    std::tuple{Column{"name", &ModelStep::name, "strings.id; ranges and graph nodes bear it"},
               Column{"kind", &ModelStep::kind, "strings.id, operator"},
               Column{"tactic", &ModelStep::tactic, "strings.id"},
               Column{"sources", &ModelStep::sources, "strings.id, JSON: the model's nodes"},
               Column{"inputs", &ModelStep::inputs, "strings.id, JSON: types and shapes"},
               Column{"outputs", &ModelStep::outputs, "strings.id, JSON"},
               Column{"flops", &ModelStep::flops, "a multiply-add is two; 0 unknown"},
               Column{"bytes", &ModelStep::bytes, "inputs, weights and outputs once; 0 unknown"},
               Column{"predecessors", &ModelStep::predecessors,
                      "strings.id, JSON: the earlier steps (from 0) whose outputs it reads; empty: unknown"},
               Column{"rivals", &ModelStep::rivals,
                      "strings.id, JSON: tactics that were looked at, {tactic, layout, time_us (0 unknown), "
                      "chosen, refusal}; empty: unknown"}}};

inline const Table kAllocationTable{
    "allocations", "Memory taken and given back.",
    std::tuple{Column{"time", &Allocation::time, "ns"},
               Column{"device", &Allocation::device, "devices.id; -1 host"},
               Column{"thread", &Allocation::thread, "threads.rowid - 1; -1 unknown"},
               Column{"address", &Allocation::address, ""},
               Column{"bytes", &Allocation::bytes, "negative when given back"},
               Column{"total_allocated", &Allocation::total_allocated, "after it; -1 unknown"},
               Column{"total_reserved", &Allocation::total_reserved, "after it; -1 unknown"},
               Column{"source", &Allocation::source, "strings.id"}}};

inline const Table kThreadUsageTable{"thread_usages",
                                     "CPU counters of threads while a step of an engine ran.",
                                     std::tuple{Column{"start", &ThreadUsage::start, "ns, of the step"},
                                                Column{"end", &ThreadUsage::end, "ns, of the step"},
                                                Column{"thread", &ThreadUsage::thread, "threads.rowid - 1"},
                                                Column{"counter", &ThreadUsage::counter, "strings.id"},
                                                Column{"value", &ThreadUsage::value, "ns for CPU time"}}};

inline const Table kCounterSampleTable{
    "counter_samples", "Counters over time.",
    std::tuple{Column{"time", &CounterSample::time, "ns, end of the interval"},
               Column{"counter", &CounterSample::counter, "strings.id"},
               Column{"device", &CounterSample::device, "devices.id"},
               Column{"value", &CounterSample::value, "counter_units.unit"}}};

inline const Table kKernelMetricTable{
    "kernel_metrics", "Metrics of launches of kernels.",
    std::tuple{Column{"process", &KernelMetric::process, "process id"},
               Column{"launch", &KernelMetric::launch, "of those measured in the process, from 0"},
               Column{"device", &KernelMetric::device, "devices.id"},
               Column{"kernel", &KernelMetric::kernel, "strings.id"},
               Column{"range", &KernelMetric::range, "strings.id: the range in which it was launched"},
               Column{"metric", &KernelMetric::metric, "strings.id"},
               Column{"unit", &KernelMetric::unit, "strings.id"}, Column{"value", &KernelMetric::value, ""}}};

inline const Table kDoubtTable{
    "doubts", "Missing or doubtful data.",
    std::tuple{Column{"severity", &Doubt::severity, "0 note, 1 doubt, 2 loss"},
               Column{"about", &Doubt::about, ""}, Column{"text", &Doubt::text, ""},
               Column{"count", &Doubt::count, "of events concerned; 0 not counted"}}};

/// Calls f(table, rows) for every table that is a vector of rows.
template <class AnyTrace, class F>
void for_each_table(AnyTrace& trace, F&& f) {
  f(kThreadTable, trace.threads);
  f(kDeviceTable, trace.devices);
  f(kContextTable, trace.contexts);
  f(kStreamTable, trace.streams);
  f(kHostTable, trace.host_events);
  f(kOperatorTable, trace.operators);
  f(kDeviceEventTable, trace.device_events);
  f(kLaunchTable, trace.launches);
  f(kTransferTable, trace.transfers);
  f(kSynchronizationTable, trace.synchronizations);
  f(kEventRecordTable, trace.event_records);
  f(kThreadSyncTable, trace.thread_syncs);
  f(kGraphNodeTable, trace.graph_nodes);
  f(kGraphEdgeTable, trace.graph_edges);
  f(kModelStepTable, trace.model_steps);
  f(kAllocationTable, trace.allocations);
  f(kThreadUsageTable, trace.thread_usages);
  f(kCounterSampleTable, trace.counter_samples);
  f(kKernelMetricTable, trace.kernel_metrics);
  f(kDoubtTable, trace.doubts);
}

}  // namespace hone::trace
