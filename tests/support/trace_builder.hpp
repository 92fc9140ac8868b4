// Traces written down in a test: one call a row, times in ns, normalized at the end.
#pragma once

#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace hone::support {

using trace::CopyDirection;
using trace::DeviceEvent;
using trace::DeviceKind;
using trace::HostEvent;
using trace::HostKind;
using trace::KernelLaunch;
using trace::kNone;
using trace::MemoryKind;
using trace::SyncKind;
using trace::Time;
using trace::Trace;
using trace::Transfer;

class TraceBuilder {
 public:
  TraceBuilder() { thread_ = trace.thread_index(1, 1); }

  /// Sets the thread of the rows that follow.
  TraceBuilder& on_thread(int64_t id) {
    thread_ = trace.thread_index(1, id);
    return *this;
  }
  TraceBuilder& on_device(int32_t device) {
    device_ = device;
    return *this;
  }
  TraceBuilder& on_stream(int64_t stream) {
    stream_ = stream;
    return *this;
  }

  HostEvent& host(HostKind kind, std::string_view name, Time start, Time end) {
    trace.host_events.push_back({start, end, kind, trace.strings.intern(name), thread_});
    return trace.host_events.back();
  }
  HostEvent& step(std::string_view name, Time start, Time end) {
    return host(HostKind::kStep, name, start, end);
  }
  HostEvent& op(std::string_view name, Time start, Time end, int64_t external_id = kNone) {
    HostEvent& event = host(HostKind::kOperator, name, start, end);
    event.external_id = external_id;
    return event;
  }
  HostEvent& api(std::string_view name, Time start, Time end, int64_t correlation = kNone) {
    HostEvent& event = host(HostKind::kRuntimeApi, name, start, end);
    event.correlation = correlation;
    return event;
  }

  DeviceEvent& kernel(std::string_view name, Time start, Time end, int64_t correlation = kNone) {
    return device(DeviceKind::kKernel, name, start, end, correlation);
  }
  /// The launch of the last kernel, to be filled in.
  KernelLaunch& launch() {
    trace.launches.emplace_back();
    trace.device_events.back().detail = static_cast<int32_t>(trace.launches.size()) - 1;
    return trace.launches.back();
  }
  Transfer& copy(CopyDirection direction, int64_t bytes, Time start, Time end, int64_t correlation = kNone) {
    return transfer(DeviceKind::kCopy, direction, bytes, start, end, correlation);
  }
  Transfer& set(int64_t bytes, Time start, Time end, int64_t correlation = kNone) {
    return transfer(DeviceKind::kSet, CopyDirection::kUnknown, bytes, start, end, correlation);
  }

  void sync(SyncKind kind, Time start, Time end, int64_t correlation = kNone) {
    trace.synchronizations.push_back({start, end, kind, device_});
    trace.synchronizations.back().correlation = correlation;
  }
  void allocate(Time time, int64_t address, int64_t bytes, int64_t total = kNone, int64_t reserved = kNone) {
    trace.allocations.push_back({time, device_, thread_, address, bytes, total, reserved, 0});
  }
  void sample(std::string_view counter, std::string_view unit, Time time, double value) {
    const trace::StringId id = trace.strings.intern(counter);
    trace.counter_units[id] = unit;
    trace.counter_samples.push_back({time, id, device_, value});
  }
  trace::DeviceProperties& properties(std::string_view name, int major = 9) {
    trace.devices.push_back({device_, trace.strings.intern(name), 0, major});
    return trace.devices.back();
  }

  const Trace& build() {
    trace::normalize(trace);
    return trace;
  }

  Trace trace;

 private:
  DeviceEvent& device(DeviceKind kind, std::string_view name, Time start, Time end, int64_t correlation) {
    trace.device_events.push_back({start, end, kind, trace.strings.intern(name), device_});
    DeviceEvent& event = trace.device_events.back();
    event.stream = stream_;
    event.correlation = correlation;
    return event;
  }
  Transfer& transfer(DeviceKind kind, CopyDirection direction, int64_t bytes, Time start, Time end,
                     int64_t correlation) {
    device(kind, "memory", start, end, correlation).detail = static_cast<int32_t>(trace.transfers.size());
    trace.transfers.push_back({bytes, direction});
    return trace.transfers.back();
  }

  int32_t thread_ = 0;
  int32_t device_ = 0;
  int64_t stream_ = 7;
};

}  // namespace hone::support
