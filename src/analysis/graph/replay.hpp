// Replays the event graph forward: everything begins as soon as its dependencies allow, plus the lag that it
// had in the trace. Without changes the result is exactly the times of the trace; with changed durations and
// dependencies it predicts the time of the changed program.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/graph/event_graph.hpp"

namespace hone::analysis {

struct Changes {
  /// Operations of this kind and name take 1/factor of their time; with factor 0 they take no time.
  struct Faster {
    OperationKind kind = OperationKind::kKernel;
    StringId name = 0;
    double factor = 1;
  };
  std::optional<Faster> faster;
  /// Copies keep their own order but overlap the other operations of their streams, and block no host thread.
  bool overlap_copies = false;
  /// Calls with this name no longer wait; the rest of their time remains.
  std::optional<StringId> without_waits;
};

class Replay {
 public:
  /// The graph must outlive it. O(n log n).
  explicit Replay(const EventGraph& graph);

  /// Time from the first event to the last, ns. O(n).
  Time wall(const Changes& changes) const;

 private:
  /// A lower bound on the time of an operation or of the end of a wait: the time of the source plus the lag.
  struct Edge {
    int32_t source = -1;  ///< node
    int32_t dependency = -1;
    Time lag = 0;
    bool inside = false;  ///< the lag is a part of the source operation, and scales with its duration
  };
  struct Run;

  void order_nodes();
  void add_edges();
  void add_operation_edges(int32_t operation, Time launch_lag, Time queue_lag);
  void add_wait_edges(const HostWait& wait);
  Edge edge_to(const Operation& source, int32_t index, Time time) const;
  void find_typical_lags(Time& launch_lag, Time& queue_lag) const;
  Time node_time(int32_t node) const;

  const EventGraph& graph_;
  int32_t operations_ = 0;
  /// Nodes in an order in which no edge leads backward. Operation i begins at node 2i and ends at node 2i +
  /// 1; the nodes of host threads follow.
  std::vector<int32_t> order_;
  std::vector<Edge> edges_;            ///< edges to operations, then edges to ends of waits
  std::vector<int32_t> first_edge_;    ///< for operations, then for waits, and one more
  std::vector<int32_t> copy_before_;   ///< the last copy before an operation in its stream; -1 none
  std::vector<int32_t> other_before_;  ///< the last other operation before it
};

}  // namespace hone::analysis
