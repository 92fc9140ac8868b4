// See queues.hpp.
#include "analysis/graph/dependencies/queues.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/graph/dependencies/operations.hpp"

namespace hone::analysis::dependencies {
namespace {

/// The device takes 1 to 2 us from one operation of a queue to the next.
constexpr Time kBackToBack = 5'000;
/// An operation usually begins 2 to 10 us after its launch, and somewhat later for large graphs.
constexpr Time kLongWait = 50'000;
/// After work that filled the device, it takes up to this long until other work begins.
constexpr Time kChangeover = 20'000;

/// The time at which the launch and all other dependencies of the operation are satisfied.
Time ready_time(const EventGraph& graph, const DependencyCollector& collector, int32_t i) {
  const Operation& operation = graph.operations[static_cast<size_t>(i)];
  if (operation.call < 0) return collector.ready(i);
  return std::max(collector.ready(i), graph.calls[static_cast<size_t>(operation.call)].enter);
}

}  // namespace

void add_contention(const EventGraph& graph, DependencyCollector& collector) {
  std::vector<std::pair<int32_t, Time>> late;  // operations that began late, and when they could have begun
  for (int32_t i = 0; i < static_cast<int32_t>(graph.operations.size()); ++i) {
    const Operation& operation = graph.operations[static_cast<size_t>(i)];
    if (operation.call < 0 || operation.device < 0) continue;
    const Time returned = graph.calls[static_cast<size_t>(operation.call)].leave;
    const Time ready = std::max(ready_time(graph, collector, i), std::min(returned, operation.enter));
    if (operation.enter - ready > kLongWait) late.emplace_back(i, ready);
  }
  if (late.empty()) return;
  const EndIndex ends(graph);
  for (const auto& [i, ready] : late) {
    const Operation& operation = graph.operations[static_cast<size_t>(i)];
    const Time middle = ready + (operation.enter - ready) / 2;
    const int32_t before =
        ends.last_in(operation.enter - kChangeover, operation.enter, [&, i = i](int32_t other) {
          const Operation& row = graph.operations[static_cast<size_t>(other)];
          return other < i && row.device == operation.device && row.enter <= middle;
        });
    if (before >= 0) collector.add(i, before, DependencyKind::kQueue, true);
  }
}

std::vector<int32_t> hardware_queues(const EventGraph& graph) {
  // Streams have the channel -1 here, which no operation with a known channel has.
  using Key = std::tuple<int32_t, int32_t, int32_t>;
  std::map<Key, int32_t> numbers;
  std::vector<int32_t> queues;
  queues.reserve(graph.operations.size());
  for (const Operation& operation : graph.operations) {
    Key key{operation.stream, -1, -1};
    if (operation.kind != OperationKind::kHostFunction) {
      const trace::DeviceEvent& event = graph.trace->device_events[static_cast<size_t>(operation.event)];
      if (event.channel >= 0) key = {event.device, event.channel, event.channel_type};
    }
    if (std::get<0>(key) < 0 && std::get<1>(key) < 0) {
      queues.push_back(-1);
      continue;
    }
    queues.push_back(numbers.try_emplace(key, static_cast<int32_t>(numbers.size())).first->second);
  }
  return queues;
}

void add_queue_order(const EventGraph& graph, DependencyCollector& collector) {
  const std::vector<int32_t> queues = hardware_queues(graph);
  std::vector<int32_t> last;  // of each queue, the operation that ends last
  for (size_t i = 0; i < queues.size(); ++i) {
    if (queues[i] < 0) continue;
    if (static_cast<size_t>(queues[i]) >= last.size()) last.resize(static_cast<size_t>(queues[i]) + 1, -1);
    int32_t& before = last[static_cast<size_t>(queues[i])];
    const Operation& operation = graph.operations[i];
    if (before < 0) {
      before = static_cast<int32_t>(i);
      continue;
    }
    const Operation& other = graph.operations[static_cast<size_t>(before)];
    const Time gap = operation.enter - other.leave;
    if (other.stream != operation.stream && gap >= 0 && gap <= kBackToBack &&
        other.leave > ready_time(graph, collector, static_cast<int32_t>(i)))
      collector.add(static_cast<int32_t>(i), before, DependencyKind::kQueue);
    if (operation.leave >= other.leave) before = static_cast<int32_t>(i);
  }
}

}  // namespace hone::analysis::dependencies
