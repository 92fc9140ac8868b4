// The intervals of a Kineto file; see kineto_document.hpp.
#include <algorithm>
#include <cmath>

#include "trace/format/kineto_document.hpp"
#include "trace/format/kineto_names.hpp"
#include "trace/occupancy.hpp"

namespace hone::trace {
namespace {

/// Kineto draws waits for a stream in separate rows, so that they do not overlap the kernels of the stream.
constexpr int64_t kSyncRow = 1'000'000;

const char* sync_name(SyncKind kind) {
  switch (kind) {
    case SyncKind::kEventSynchronize: return "Event Sync";
    case SyncKind::kStreamWaitEvent: return "Stream Wait Event";
    case SyncKind::kStreamSynchronize: return "Stream Sync";
    case SyncKind::kContextSynchronize: return "Context Sync";
  }
  return "Context Sync";
}

const char* category_of(HostKind kind) {
  switch (kind) {
    case HostKind::kOperator:
    case HostKind::kEngineStep: return "cpu_op";
    case HostKind::kPython: return "python_function";
    case HostKind::kOverhead: return "overhead";
    default: return "user_annotation";
  }
}

}  // namespace

struct KinetoDocument::Row {
  const char* category;
  const std::string& name;  // in quotes
  int64_t process;
  int64_t thread;
  Time start;
  Time end;
};

void KinetoDocument::begin_interval(const Row& row) {
  separate();
  // The duration is a difference of rounded times, so that nested intervals stay nested after rounding.
  Time duration = row.end - row.start;
  if (settings_.whole_microseconds) {
    const auto floor = [](Time time) { return time - ((time % 1000) + 1000) % 1000; };
    duration = floor(row.end - base_) - floor(row.start - base_);
  }
  out_.add(R"(  {{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{)",
           row.category, row.name, row.process, row.thread, at(row.start), Microseconds{duration});
  first_argument_ = true;
}

void KinetoDocument::end_interval() { out_.add("}}}}"); }

void KinetoDocument::write_host(size_t index) {
  const HostEvent& event = trace_.host_events[index];
  const Thread& thread = trace_.threads[static_cast<size_t>(event.thread)];
  if (!mine(thread)) return;
  if (event.kind == HostKind::kRuntimeApi || event.kind == HostKind::kDriverApi) return write_call(index);
  const auto step = layout_.step_names.find(index);
  std::string name = strings_[event.name];
  if (step != layout_.step_names.end()) {
    name = json_string(step->second);
  } else if (event.kind == HostKind::kStep) {  // next to the others, and so no step for readers
    name = json_string("iteration " + trace_.text(event.name));
  }
  begin_interval(
      {category_of(event.kind), name, thread.process, thread.id, event.start, layout_.ends[index]});
  const bool has_id = event.kind != HostKind::kOverhead && event.kind != HostKind::kPython;
  if (has_id) argument("External id", "{}", layout_.external_ids[index]);
  if (const std::string_view kind = kind_argument(event.kind); !kind.empty())
    argument(kKindArgument.data(), "\"{}\"", kind);
  write_operator(index);
  if (event.kind == HostKind::kPython) write_python(index);
  end_interval();
}

void KinetoDocument::write_operator(size_t index) {
  const int32_t detail = trace_.host_events[index].detail;
  if (detail < 0) return;
  const OperatorDetail& row = trace_.operators[static_cast<size_t>(detail)];
  if (row.sequence != kNone) argument("Sequence number", "{}", row.sequence);
  // Already JSON if a framework has recorded it.
  const auto raw = [&](const char* name, StringId id) {
    const std::string& text = trace_.text(id);
    if (!text.empty()) argument(name, "{}", text.front() == '[' && is_json(text) ? text : strings_[id]);
  };
  raw("Input Dims", row.input_shapes);
  raw("Input type", row.input_types);
  if (row.call_stack != 0) argument("Call stack", "{}", strings_[row.call_stack]);
  if (row.module != 0) argument("Module Hierarchy", "{}", strings_[row.module]);
}

/// Readers reconstruct the hierarchy of modules only from these ids.
void KinetoDocument::write_python(size_t index) {
  const HostEvent& event = trace_.host_events[index];
  argument("Python id", "{}", index + 1);
  if (layout_.parents[index] != kNone) {
    argument("Python parent id", "{}", layout_.parents[index] + 1);
  } else {
    argument("Python parent id", "null");
  }
  if (!trace_.text(event.name).starts_with("nn.Module: ")) return;
  const auto module = modules_.emplace(event.name, static_cast<int64_t>(modules_.size())).first;
  argument("Python module id", "{}", module->second);
}

void KinetoDocument::write_call(size_t index) {
  const HostEvent& event = trace_.host_events[index];
  const Thread& thread = trace_.threads[static_cast<size_t>(event.thread)];
  const auto launch = layout_.launches.find(event.correlation);
  // The driver's part of a runtime call has the same correlation, which readers would take for a second
  // launch.
  const bool second = launch != layout_.launches.end() && launch->second != index;
  begin_interval({second ? "cuda_driver" : "cuda_runtime", call_names_[event.name], thread.process, thread.id,
                  event.start, layout_.ends[index]});
  argument("External id", "{}", layout_.external_ids[index]);
  if (!second && event.correlation > 0) argument("correlation", "{}", event.correlation);
  end_interval();
}

void KinetoDocument::write_device(const DeviceEvent& event) {
  const int64_t stream = stream_of(event.stream);
  const int64_t correlation = event.correlation > 0 ? event.correlation : next_correlation_++;
  const auto launch = layout_.launches.find(event.correlation);
  const char* const category = event.kind == DeviceKind::kKernel ? "kernel"
                               : event.kind == DeviceKind::kCopy ? "gpu_memcpy"
                                                                 : "gpu_memset";
  begin_interval({category, strings_[event.name], event.device, stream, event.start, event.end});
  argument("External id", "{}", launch == layout_.launches.end() ? 0 : layout_.external_ids[launch->second]);
  argument("device", "{}", event.device);
  argument("context", "{}", std::max<int64_t>(event.context, 0));
  argument("stream", "{}", stream);
  argument("correlation", "{}", correlation);
  if (event.detail >= 0) event.kind == DeviceKind::kKernel ? write_launch(event) : write_transfer(event);
  if (event.graph != kNone) argument("graph id", "{}", event.graph);
  if (event.graph_node != kNone) argument("graph node id", "{}", event.graph_node);
  const auto priority = priorities_.find({event.context, event.stream});
  if (priority != priorities_.end()) argument("priority", "{}", priority->second);
  if (event.channel >= 0) argument("channel", "{}", event.channel);
  if (event.channel_type >= 0) argument("channel_type", "{}", event.channel_type);
  end_interval();
  if (launch != layout_.launches.end()) write_arrow(event, stream, launch->second);
}

void KinetoDocument::write_launch(const DeviceEvent& event) {
  const KernelLaunch& launch = trace_.launches[static_cast<size_t>(event.detail)];
  const DeviceProperties* known = trace_.find_device(event.device);
  const DeviceProperties device = known == nullptr ? DeviceProperties{} : *known;
  argument("queued", "0");
  argument("registers per thread", "{}", launch.registers_per_thread);
  argument("shared memory", "{}", launch.static_shared_bytes + launch.dynamic_shared_bytes);
  const double blocks = blocks_per_multiprocessor(launch, device);
  if (blocks >= 0) argument("blocks per SM", "{:.6f}", blocks);
  const double warps = warps_per_multiprocessor(launch, device);
  if (warps >= 0) argument("warps per SM", "{:.6f}", warps);
  argument("grid", "[{}, {}, {}]", launch.grid[0], launch.grid[1], launch.grid[2]);
  argument("block", "[{}, {}, {}]", launch.block[0], launch.block[1], launch.block[2]);
  const double occupancy = estimated_occupancy(launch, device);
  if (occupancy >= 0)
    argument("est. achieved occupancy %", "{}",
             launch.recorded_occupancy >= 0 ? occupancy : std::round(occupancy));
  if (launch.collective != 0) argument("Collective name", "{}", strings_[launch.collective]);
}

void KinetoDocument::write_transfer(const DeviceEvent& event) {
  const Transfer& transfer = trace_.transfers[static_cast<size_t>(event.detail)];
  const Time duration = event.end - event.start;
  argument("bytes", "{}", transfer.bytes);
  argument("memory bandwidth (GB/s)", "{:.6f}",
           duration == 0 ? 0.0 : static_cast<double>(transfer.bytes) / static_cast<double>(duration));
}

/// Writes the arrow from the call to the operation that it launched.
void KinetoDocument::write_arrow(const DeviceEvent& event, int64_t stream, size_t call_index) {
  const HostEvent& call = trace_.host_events[call_index];
  const Thread& thread = trace_.threads[static_cast<size_t>(call.thread)];
  if (arrows_.insert(event.correlation).second) {
    separate();
    out_.add(R"(  {{"ph": "s", "id": {}, "pid": {}, "tid": {}, "ts": {}, "cat": "ac2g", "name": "ac2g"}})",
             event.correlation, thread.process, thread.id, at(call.start));
  }
  separate();
  out_.add(
      R"(  {{"ph": "f", "id": {}, "pid": {}, "tid": {}, "ts": {}, "cat": "ac2g", "name": "ac2g", "bp": "e"}})",
      event.correlation, event.device, stream, at(event.start));
}

void KinetoDocument::write_synchronization(const Synchronization& row) {
  const bool of_stream = row.kind == SyncKind::kStreamSynchronize || row.kind == SyncKind::kStreamWaitEvent;
  const int64_t stream = of_stream ? stream_of(row.stream) : row.stream;
  const std::string name = fmt::format("\"{}\"", sync_name(row.kind));
  const int64_t thread = row.kind == SyncKind::kStreamSynchronize ? stream + kSyncRow : stream;
  begin_interval({"cuda_sync", name, row.device, thread, row.start, row.end});
  argument("cuda_sync_kind", "{}", name);
  argument("stream", "{}", stream);
  argument("correlation", "{}", row.correlation);
  argument("device", "{}", row.device);
  argument("context", "{}", std::max<int64_t>(row.context, 0));
  if (const auto record = records_.find(row.event_record); record != records_.end()) {
    const EventRecord& recorded = trace_.event_records[record->second];
    argument("wait_on_stream", "{}", recorded.stream);
    argument("wait_on_cuda_event_record_corr_id", "{}", recorded.correlation);
  }
  if (row.event != kNone) argument("wait_on_cuda_event_id", "{}", row.event);
  end_interval();
}

/// Written only if the time on the device is known; the waits hold the other data.
void KinetoDocument::write_event_record(const EventRecord& row) {
  if (row.completed == kNone) return;
  static const std::string name = "\"cudaEvent\"";
  begin_interval({"cuda_event", name, row.device, stream_of(row.stream), row.completed, row.completed + 1});
  argument("event_id", "{}", row.event);
  argument("stream", "{}", row.stream);
  argument("correlation", "{}", row.correlation);
  argument("device", "{}", row.device);
  argument("context", "{}", std::max<int64_t>(row.context, 0));
  end_interval();
}

}  // namespace hone::trace
