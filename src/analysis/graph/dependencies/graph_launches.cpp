// See graph_launches.hpp.
#include "analysis/graph/dependencies/graph_launches.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace hone::analysis::dependencies {
namespace {

/// If a node starts within this time after its predecessor in the stream, no other cause is needed. The
/// device takes 1 to 2 us from one node to the next.
constexpr Time kNodeGap = 5'000;

/// Edges by dense node numbers, from a node to its predecessors.
class NodeTable {
 public:
  explicit NodeTable(const trace::Trace& trace) {
    for (const trace::GraphEdge& edge : trace.graph_edges) {
      number(edge.from);
      ++counts_[static_cast<size_t>(number(edge.to))];
    }
    first_.assign(counts_.size() + 1, 0);
    for (size_t i = 0; i < counts_.size(); ++i) first_[i + 1] = first_[i] + counts_[i];
    before_.resize(trace.graph_edges.size());
    std::vector<int32_t> next(first_.begin(), first_.end() - 1);
    for (const trace::GraphEdge& edge : trace.graph_edges) {
      int32_t& place = next[static_cast<size_t>(number(edge.to))];
      before_[static_cast<size_t>(place++)] = number(edge.from);
    }
  }

  /// -1 for a node without edges.
  int32_t find(int64_t node) const {
    const auto found = numbers_.find(node);
    return found == numbers_.end() ? -1 : found->second;
  }
  size_t size() const { return counts_.size(); }
  int32_t begin(int32_t node) const { return first_[static_cast<size_t>(node)]; }
  int32_t end(int32_t node) const { return first_[static_cast<size_t>(node) + 1]; }
  int32_t before(int32_t edge) const { return before_[static_cast<size_t>(edge)]; }

 private:
  int32_t number(int64_t node) {
    const auto [found, is_new] = numbers_.try_emplace(node, static_cast<int32_t>(counts_.size()));
    if (is_new) counts_.push_back(0);
    return found->second;
  }

  std::unordered_map<int64_t, int32_t> numbers_;
  std::vector<int32_t> counts_;
  std::vector<int32_t> first_;
  std::vector<int32_t> before_;
};

/// Reads the edges of one launch after another.
class EdgeReader {
 public:
  EdgeReader(const EventGraph& graph, DependencyCollector& collector)
      : graph_(graph), collector_(collector), nodes_(*graph.trace) {
    states_.resize(nodes_.size());
  }

  /// Returns false if no edge of the launch's nodes was recorded.
  bool read(GraphLaunch& launch, GraphLaunches& all) {
    ++epoch_;
    bool known = false;
    for (const int32_t operation : launch.operations) {
      const int32_t node = node_of(operation);
      if (node < 0) continue;
      known = true;
      states_[static_cast<size_t>(node)] = {epoch_, operation};
    }
    if (!known) return false;
    std::vector<bool> is_leaf(launch.operations.size(), true);
    for (const int32_t operation : launch.operations) read(operation, launch, all, is_leaf);
    for (size_t i = 0; i < is_leaf.size(); ++i) {
      if (is_leaf[i]) launch.leaves.push_back(launch.operations[i]);
    }
    return true;
  }

 private:
  /// The operation of a node in this launch. For a node without a record, it is the one that ends last among
  /// the operations of its predecessors.
  struct State {
    int64_t epoch = 0;
    int32_t operation = -1;
  };

  int32_t node_of(int32_t operation) const {
    const Operation& row = graph_.operations[static_cast<size_t>(operation)];
    if (row.kind == OperationKind::kHostFunction) return -1;
    return nodes_.find(graph_.trace->device_events[static_cast<size_t>(row.event)].graph_node);
  }

  void read(int32_t operation, const GraphLaunch& launch, GraphLaunches& all, std::vector<bool>& is_leaf) {
    const int32_t node = node_of(operation);
    if (node < 0) return;
    for (int32_t edge = nodes_.begin(node); edge < nodes_.end(node); ++edge) {
      const int32_t before = resolve(nodes_.before(edge));
      if (before < 0 || before == operation) continue;
      collector_.add(operation, before, DependencyKind::kGraph);
      all.is_root[static_cast<size_t>(operation)] = false;
      const auto place = std::lower_bound(launch.operations.begin(), launch.operations.end(), before) -
                         launch.operations.begin();
      is_leaf[static_cast<size_t>(place)] = false;
    }
  }

  /// Avoids recursion, because chains of nodes without records may be long. A damaged trace may contain a
  /// cycle; it is cut at the first node that is visited twice.
  int32_t resolve(int32_t node) {
    if (state(node).epoch == epoch_) return state(node).operation;
    stack_.clear();
    enter(node);
    while (!stack_.empty()) {
      auto& [top, edge] = stack_.back();
      if (edge == nodes_.end(top)) {
        const int32_t found = state(top).operation;
        stack_.pop_back();
        if (!stack_.empty()) keep_later(stack_.back().first, found);
        continue;
      }
      const int32_t before = nodes_.before(edge++);
      if (state(before).epoch == epoch_) {
        keep_later(top, state(before).operation);
      } else {
        enter(before);
      }
    }
    return state(node).operation;
  }

  void enter(int32_t node) {
    state(node) = {epoch_, -1};
    stack_.emplace_back(node, nodes_.begin(node));
  }

  void keep_later(int32_t node, int32_t operation) {
    int32_t& best = state(node).operation;
    if (operation >= 0 && (best < 0 || leave_of(operation) > leave_of(best))) best = operation;
  }

  Time leave_of(int32_t operation) const { return graph_.operations[static_cast<size_t>(operation)].leave; }
  State& state(int32_t node) { return states_[static_cast<size_t>(node)]; }

  const EventGraph& graph_;
  DependencyCollector& collector_;
  NodeTable nodes_;
  std::vector<State> states_;
  std::vector<std::pair<int32_t, int32_t>> stack_;  ///< a node and its next edge to visit
  int64_t epoch_ = 0;
};

/// Infers the order if no edges were recorded. An operation depends on the previous one in its stream; the
/// rule of stream order adds that. If it is the first in its stream or did not start right after the previous
/// one, it also depends on the operation that ended right before it.
void infer_edges(const EventGraph& graph, GraphLaunch& launch, GraphLaunches& all,
                 DependencyCollector& collector) {
  const auto row = [&](int32_t i) -> const Operation& { return graph.operations[static_cast<size_t>(i)]; };
  std::vector<int32_t> by_end = launch.operations;
  std::stable_sort(by_end.begin(), by_end.end(),
                   [&](int32_t a, int32_t b) { return row(a).leave < row(b).leave; });
  std::unordered_map<int32_t, int32_t> last;  // last operation of each stream
  size_t ended = 0;
  for (const int32_t operation : launch.operations) {
    const Time enter = row(operation).enter;
    while (ended < by_end.size() && row(by_end[ended]).leave <= enter) ++ended;
    const auto [before, is_first] = last.try_emplace(row(operation).stream, operation);
    const bool close = !is_first && enter - row(before->second).leave <= kNodeGap;
    if (!is_first) all.is_root[static_cast<size_t>(operation)] = false;
    if (!close && ended > 0 && by_end[ended - 1] < operation) {
      collector.add(operation, by_end[ended - 1], DependencyKind::kGraph, true);
      all.is_root[static_cast<size_t>(operation)] = false;
    }
    before->second = operation;
  }
  for (const auto& [stream, operation] : last) launch.leaves.push_back(operation);
  std::sort(launch.leaves.begin(), launch.leaves.end());
}

/// Returns the streams that the program uses by itself, as opposed to streams of graph branches.
std::vector<bool> named_streams(const EventGraph& graph, const StreamIndex& streams,
                                const GraphLaunches& launches) {
  std::vector<bool> named(streams.size(), false);
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    const int32_t stream = graph.operations[i].stream;
    if (stream >= 0 && launches.launch_of[i] < 0) named[static_cast<size_t>(stream)] = true;
  }
  const auto name_all = [&](const auto& rows) {
    for (const auto& row : rows) {
      const int32_t stream = streams.find(row.device, row.context, row.stream);
      if (stream >= 0) named[static_cast<size_t>(stream)] = true;
    }
  };
  name_all(graph.trace->event_records);
  name_all(graph.trace->synchronizations);
  return named;
}

/// Chooses the first stream of the launch that the program uses by itself, or else its first stream.
void find_launch_stream(const EventGraph& graph, const std::vector<bool>& named, GraphLaunch& launch) {
  for (const int32_t operation : launch.operations) {
    const int32_t stream = graph.operations[static_cast<size_t>(operation)].stream;
    if (stream < 0) continue;
    if (launch.stream < 0) launch.stream = stream;
    if (!named[static_cast<size_t>(stream)]) continue;
    launch.stream = stream;
    return;
  }
}

/// Groups operations by the correlation that all operations of a launch share.
GraphLaunches group_launches(const EventGraph& graph) {
  GraphLaunches all;
  all.launch_of.assign(graph.operations.size(), -1);
  all.is_root.assign(graph.operations.size(), true);
  std::unordered_map<int64_t, int32_t> launches;
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    const Operation& operation = graph.operations[i];
    if (operation.kind == OperationKind::kHostFunction) continue;
    const trace::DeviceEvent& event = graph.trace->device_events[static_cast<size_t>(operation.event)];
    if (event.correlation == trace::kNone) continue;
    if (event.graph_node == trace::kNone && event.graph == trace::kNone) continue;
    const auto [found, is_new] =
        launches.try_emplace(event.correlation, static_cast<int32_t>(all.launches.size()));
    if (is_new) all.launches.emplace_back();
    all.launches[static_cast<size_t>(found->second)].operations.push_back(static_cast<int32_t>(i));
    all.launch_of[i] = found->second;
  }
  return all;
}

}  // namespace

GraphLaunches add_graph_edges(const EventGraph& graph, const StreamIndex& streams,
                              DependencyCollector& collector) {
  GraphLaunches all = group_launches(graph);
  if (all.launches.empty()) return all;
  const std::vector<bool> named = named_streams(graph, streams, all);
  EdgeReader reader(graph, collector);
  for (GraphLaunch& launch : all.launches) {
    find_launch_stream(graph, named, launch);
    launch.edges_known = reader.read(launch, all);
    if (!launch.edges_known) infer_edges(graph, launch, all, collector);
  }
  return all;
}

}  // namespace hone::analysis::dependencies
