// Runs the event graph forward: everything begins as soon as its dependencies allow, plus the lag that this
// had in the trace. With nothing changed that gives the times of the trace exactly; with durations and
// dependencies changed, what the program would have taken.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/graph/event_graph.hpp"

namespace hone::analysis {

struct Changes {
  /// Operations of this kind and name take 1/factor of their time; factor 0: none at all.
  struct Faster {
    OperationKind kind = OperationKind::kKernel;
    StringId name = 0;
    double factor = 1;
  };
  std::optional<Faster> faster;
  /// Copies overlap the other operations of their streams, in their own order, and block no host thread.
  bool overlap_copies = false;
  /// Calls of this name no longer wait; what they do besides remains.
  std::optional<StringId> without_waits;
};

class Replay {
 public:
  /// The graph has to outlive it. O(n log n).
  explicit Replay(const EventGraph& graph);

  /// From the first event to the last, ns. O(n).
  Time wall(const Changes& changes) const;

 private:
  /// A lower bound on the time of an operation or of the end of a wait: the time of the source plus the lag.
  struct Edge {
    int32_t source = -1;  ///< node
    int32_t dependency = -1;
    Time lag = 0;
    bool inside = false;  ///< the lag lies inside the operation that the source begins, and scales with it
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
  /// Nodes in an order in which no edge leads backward: the begin of operation i is 2i, its end 2i + 1, and
  /// after them come the nodes of host threads.
  std::vector<int32_t> order_;
  std::vector<Edge> edges_;            ///< into operations, then into ends of waits
  std::vector<int32_t> first_edge_;    ///< of operations, then of waits, and one more
  std::vector<int32_t> copy_before_;   ///< in the stream: the last copy before an operation; -1 none
  std::vector<int32_t> other_before_;  ///< the last other operation before it
};

}  // namespace hone::analysis
