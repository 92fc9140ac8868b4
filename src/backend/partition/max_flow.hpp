// The largest flow through a network, and the smallest cut that it proves (Dinic 1970): levels by breadth
// first search, then blocking flows. Capacities are whole numbers, so the result is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hone::backend::partition {

class FlowNetwork {
 public:
  /// More than any sum of finite capacities may be.
  static constexpr int64_t kInfinite = int64_t{1} << 60;

  FlowNetwork() : edges_of_(2) {}

  static constexpr int32_t kSource = 0;
  static constexpr int32_t kSink = 1;
  int32_t add_vertex();
  /// From `from` to `to`, and back with `back`.
  void add_edge(int32_t from, int32_t to, int64_t capacity, int64_t back = 0);

  /// Maximises the flow from source to sink; called once.
  int64_t maximise();
  /// After maximise(): whether the vertex is on the source's side of the smallest cut, of the cut that is
  /// next to the source where there are several.
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
