// See operations.hpp.
#include "analysis/graph/dependencies/operations.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace hone::analysis::dependencies {
namespace {

using trace::DeviceEvent;
using trace::DeviceKind;
using trace::HostEvent;
using trace::HostKind;
using trace::StreamKind;

OperationKind kind_of(DeviceKind kind) {
  if (kind == DeviceKind::kKernel) return OperationKind::kKernel;
  return kind == DeviceKind::kCopy ? OperationKind::kCopy : OperationKind::kSet;
}

void add_device_events(EventGraph& graph, StreamIndex& streams, const CallIndex& index) {
  const std::vector<DeviceEvent>& events = graph.trace->device_events;
  graph.operations.reserve(events.size());
  int32_t device = events.empty() ? 0 : events.front().device;
  Time offset = graph.clock.offset(device);
  for (size_t i = 0; i < events.size(); ++i) {
    const DeviceEvent& event = events[i];
    if (event.device != device) {
      device = event.device;
      offset = graph.clock.offset(device);
    }
    Operation operation;
    operation.enter = event.start + offset;
    operation.leave = event.end + offset;
    operation.name = event.name;
    operation.kind = kind_of(event.kind);
    operation.device = event.device;
    operation.event = static_cast<int32_t>(i);
    operation.call = index.find(event.correlation);
    if (event.stream != trace::kNone)
      operation.stream = streams.add(event.device, event.context, event.stream);
    graph.operations.push_back(operation);
  }
}

void add_host_functions(EventGraph& graph, const CallIndex& index) {
  const std::vector<HostEvent>& events = graph.trace->host_events;
  for (size_t i = 0; i < events.size(); ++i) {
    const HostEvent& event = events[i];
    if (event.kind != HostKind::kHostFunction) continue;
    Operation operation;
    operation.enter = event.start;
    operation.leave = event.end;
    operation.name = event.name;
    operation.kind = OperationKind::kHostFunction;
    operation.event = static_cast<int32_t>(i);
    operation.call = index.find(event.correlation);
    graph.operations.push_back(operation);
  }
}

Enqueued enqueued_by(const EventGraph& graph, const Operation& operation) {
  // If the launch of an operation is unknown, it is only certain that it was enqueued before it began.
  if (operation.call < 0) return {operation.enter, std::numeric_limits<int32_t>::max()};
  return {graph.calls[static_cast<size_t>(operation.call)].enter, operation.call};
}

/// Infers the streams of host functions, which the trace does not record (R14). The previous operation in the
/// stream is most likely the one that ended last before the host function began, among the operations
/// enqueued before it.
void find_streams_of_host_functions(EventGraph& graph, const std::vector<Enqueued>& enqueued) {
  const auto is_function = [](const Operation& o) { return o.kind == OperationKind::kHostFunction; };
  if (std::none_of(graph.operations.begin(), graph.operations.end(), is_function)) return;
  const EndIndex ends(graph);
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    Operation& function = graph.operations[i];
    if (!is_function(function) || function.call < 0) continue;
    const int32_t before = ends.last_in(std::numeric_limits<Time>::min(), function.enter, [&](int32_t other) {
      const auto o = static_cast<size_t>(other);
      return o < i && !is_function(graph.operations[o]) && graph.operations[o].stream >= 0 &&
             enqueued[o] <= enqueued[i];
    });
    if (before >= 0) function.stream = graph.operations[static_cast<size_t>(before)].stream;
  }
}

}  // namespace

StreamIndex::StreamIndex(const trace::Trace& trace) {
  for (const trace::Stream& stream : trace.streams) kinds_[{0, stream.context, stream.id}] = stream.kind;
  for (const trace::Context& context : trace.contexts) {
    if (context.null_stream == trace::kNone) continue;
    kinds_[{0, context.id, context.null_stream}] = StreamKind::kNull;
  }
}

size_t StreamIndex::Hash::operator()(const Key& key) const {
  uint64_t hash = static_cast<uint64_t>(key.device) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ static_cast<uint64_t>(key.context)) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ (hash >> 29) ^ static_cast<uint64_t>(key.stream)) * 0x94d049bb133111ebu;
  return hash ^ (hash >> 32);
}

int32_t StreamIndex::add(int32_t device, int64_t context, int64_t stream) {
  const Key key{device, context, stream};
  if (last_number_ >= 0 && last_ == key) return last_number_;
  const auto [found, is_new] = numbers_.try_emplace(key, static_cast<int32_t>(streams_.size()));
  if (is_new) {
    const auto [place, first] = contexts_.try_emplace(context, static_cast<int32_t>(contexts_.size()));
    streams_.push_back({device, place->second, kind(context, stream)});
    numbers_.try_emplace({kAnyDevice, context, stream}, found->second);
  }
  last_ = key;
  last_number_ = numbers_.at(key);
  return last_number_;
}

int32_t StreamIndex::find(int32_t device, int64_t context, int64_t stream) const {
  auto found = numbers_.find({device, context, stream});
  if (found == numbers_.end()) found = numbers_.find({kAnyDevice, context, stream});
  return found == numbers_.end() ? -1 : found->second;
}

StreamKind StreamIndex::kind(int64_t context, int64_t stream) const {
  const auto found = kinds_.find({0, context, stream});
  return found == kinds_.end() ? StreamKind::kUnknown : found->second;
}

int32_t StreamIndex::find_context(int64_t context) const {
  const auto found = contexts_.find(context);
  return found == contexts_.end() ? -1 : found->second;
}

EndIndex::EndIndex(const EventGraph& graph) {
  ends_.reserve(graph.operations.size());
  for (size_t i = 0; i < graph.operations.size(); ++i)
    ends_.emplace_back(graph.operations[i].leave, static_cast<int32_t>(i));
  std::sort(ends_.begin(), ends_.end());
}

size_t EndIndex::count_until(Time time) const {
  const std::pair end{time, std::numeric_limits<int32_t>::max()};
  return static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), end) - ends_.begin());
}

std::vector<Enqueued> add_operations(EventGraph& graph, StreamIndex& streams, const CallIndex& index) {
  add_device_events(graph, streams, index);
  add_host_functions(graph, index);
  std::vector<Operation>& operations = graph.operations;
  const auto earlier = [](const Operation& a, const Operation& b) {
    return std::tie(a.enter, a.leave) < std::tie(b.enter, b.leave);
  };
  if (!std::is_sorted(operations.begin(), operations.end(), earlier))
    std::stable_sort(operations.begin(), operations.end(), earlier);
  std::vector<Enqueued> enqueued;
  enqueued.reserve(operations.size());
  for (const Operation& operation : operations) enqueued.push_back(enqueued_by(graph, operation));
  find_streams_of_host_functions(graph, enqueued);
  // Threads that share a stream may begin their launches in another order than that of the queue. Therefore
  // an operation's enqueue time is limited by those of the operations that ran after it.
  std::vector<Enqueued> next(streams.size(), {std::numeric_limits<Time>::max(), 0});
  for (size_t i = operations.size(); i-- > 0;) {
    if (operations[i].stream < 0) continue;
    Enqueued& limit = next[static_cast<size_t>(operations[i].stream)];
    limit = enqueued[i] = std::min(enqueued[i], limit);
  }
  return enqueued;
}

}  // namespace hone::analysis::dependencies
