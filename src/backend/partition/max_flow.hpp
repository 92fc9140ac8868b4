// The maximum flow through a network and its minimum cut (Dinic 1970): levels by breadth-first search, then
// blocking flows. Capacities are integers, so the result is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hone::backend::partition {

class FlowNetwork {
 public:
  /// Larger than any sum of finite capacities.
  static constexpr int64_t kInfinite = int64_t{1} << 60;

  FlowNetwork() : edges_of_(2) {}

  static constexpr int32_t kSource = 0;
  static constexpr int32_t kSink = 1;
  int32_t add_vertex();
  /// Adds an edge with `capacity` from `from` to `to`, and with capacity `back` in the other direction.
  void add_edge(int32_t from, int32_t to, int64_t capacity, int64_t back = 0);

  /// Maximises the flow from source to sink; called once.
  int64_t maximise();
  /// After maximise(): true if the vertex is on the source's side of the minimum cut. If there are several
  /// minimum cuts, it is the one closest to the source.
  bool on_source_side(int32_t vertex) const { return level_[static_cast<size_t>(vertex)] >= 0; }

 private:
  struct Edge {
    int32_t to;
    int64_t left;
  };

  bool find_levels();
  int64_t block_flow();

  std::vector<Edge> edges_;  ///< edge 2k and its reverse 2k + 1
  std::vector<std::vector<int32_t>> edges_of_;
  std::vector<int32_t> level_;
};

}  // namespace hone::backend::partition
