// Writes traces of small GPU programs by hand: calls of host threads, and what they launched, by time.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trace/trace.hpp"

namespace hone::analysis {

class ProgramTrace {
 public:
  static constexpr int64_t kContext = 1;
  static constexpr int64_t kNullStream = 7;

  ProgramTrace() {
    trace_.devices.push_back({0, trace_.strings.intern("GPU"), 0});
    trace_.contexts.push_back({kContext, 0, 1, kNullStream});
    stream(kNullStream, trace::StreamKind::kNull);
  }

  void stream(int64_t id, trace::StreamKind kind) { trace_.streams.push_back({kContext, id, kind, 0}); }

  /// A call of the runtime API; returns its correlation.
  int64_t call(const std::string& name, trace::Time start, trace::Time end, int64_t thread = 1) {
    const int64_t correlation = next_++;
    host(trace::HostKind::kRuntimeApi, name, start, end, thread, correlation);
    return correlation;
  }

  trace::HostEvent& host(trace::HostKind kind, const std::string& name, trace::Time start, trace::Time end,
                         int64_t thread = 1, int64_t correlation = trace::kNone) {
    trace::HostEvent event;
    event.start = start;
    event.end = end;
    event.kind = kind;
    event.name = trace_.strings.intern(name);
    event.thread = trace_.thread_index(1, thread);
    event.correlation = correlation;
    trace_.host_events.push_back(event);
    return trace_.host_events.back();
  }

  trace::DeviceEvent& device(trace::DeviceKind kind, int64_t correlation, const std::string& name,
                             trace::Time start, trace::Time end, int64_t stream = kNullStream) {
    trace::DeviceEvent event;
    event.start = start;
    event.end = end;
    event.kind = kind;
    event.name = trace_.strings.intern(name);
    event.context = kContext;
    event.stream = stream;
    event.correlation = correlation;
    trace_.device_events.push_back(event);
    return trace_.device_events.back();
  }

  trace::DeviceEvent& kernel(int64_t correlation, const std::string& name, trace::Time start, trace::Time end,
                             int64_t stream = kNullStream) {
    return device(trace::DeviceKind::kKernel, correlation, name, start, end, stream);
  }

  /// A call of cudaLaunchKernel of 2 ns at `launch`, and its kernel.
  trace::DeviceEvent& launch(const std::string& name, trace::Time launch, trace::Time start, trace::Time end,
                             int64_t stream = kNullStream, int64_t thread = 1) {
    return kernel(call("cudaLaunchKernel", launch, launch + 2, thread), name, start, end, stream);
  }

  trace::DeviceEvent& copy(int64_t correlation, const std::string& name, trace::Time start, trace::Time end,
                           const trace::Transfer& transfer, int64_t stream = kNullStream) {
    trace::DeviceEvent& event = device(trace::DeviceKind::kCopy, correlation, name, start, end, stream);
    event.detail = static_cast<int32_t>(trace_.transfers.size());
    trace_.transfers.push_back(transfer);
    return event;
  }

  trace::Synchronization& synchronize(trace::SyncKind kind, const std::string& name, trace::Time start,
                                      trace::Time end, int64_t stream = trace::kNone,
                                      int64_t record = trace::kNone, int64_t thread = 1) {
    trace::Synchronization row;
    row.correlation = call(name, start, end, thread);
    row.start = start;
    row.end = end;
    row.kind = kind;
    row.context = kContext;
    row.stream = stream;
    row.event_record = record;
    trace_.synchronizations.push_back(row);
    return trace_.synchronizations.back();
  }

  void wait_for_stream(int64_t stream, trace::Time start, trace::Time end, int64_t thread = 1) {
    synchronize(trace::SyncKind::kStreamSynchronize, "cudaStreamSynchronize", start, end, stream,
                trace::kNone, thread);
  }
  void wait_for_device(trace::Time start, trace::Time end, int64_t thread = 1) {
    synchronize(trace::SyncKind::kContextSynchronize, "cudaDeviceSynchronize", start, end, trace::kNone,
                trace::kNone, thread);
  }
  void wait_for_event(int64_t record, trace::Time start, trace::Time end) {
    synchronize(trace::SyncKind::kEventSynchronize, "cudaEventSynchronize", start, end, trace::kNone, record);
  }
  void make_stream_wait(int64_t stream, int64_t record, trace::Time start) {
    synchronize(trace::SyncKind::kStreamWaitEvent, "cudaStreamWaitEvent", start, start + 1, stream, record);
  }
  /// An action of a thread for which others may wait.
  void wake(trace::ThreadOperation operation, int64_t object, trace::Time time, int64_t thread) {
    trace_.thread_syncs.push_back({time, time, operation, trace_.thread_index(1, thread), object});
  }
  /// A call of the threads API that waited.
  void wait_for_thread(trace::ThreadOperation operation, const std::string& name, int64_t object,
                       trace::Time start, trace::Time end, int64_t thread = 1) {
    host(trace::HostKind::kThreadApi, name, start, end, thread);
    trace_.thread_syncs.push_back({start, end, operation, trace_.thread_index(1, thread), object});
  }
  /// A call of pthread_create of 2 ns, and the thread's begin.
  void create_thread(int64_t thread, trace::Time time, trace::Time begin, int64_t by = 1) {
    host(trace::HostKind::kThreadApi, "pthread_create", time, time + 2, by);
    wake(trace::ThreadOperation::kCreate, thread, time, by);
    wake(trace::ThreadOperation::kStart, thread, begin, thread);
  }
  /// Returns the record's id.
  int64_t record_event(int64_t stream, trace::Time start, int64_t event = 5) {
    const int64_t correlation = call("cudaEventRecord", start, start + 1);
    trace_.event_records.push_back(
        {correlation + 1000, event, 0, kContext, stream, correlation, trace::kNone});
    return correlation + 1000;
  }

  trace::Trace& trace() { return trace_; }
  /// The normalized trace.
  const trace::Trace& finish() {
    trace::normalize(trace_);
    return trace_;
  }

 private:
  trace::Trace trace_;
  int64_t next_ = 100;
};

}  // namespace hone::analysis
