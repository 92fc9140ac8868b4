// The host side of the graph: the API calls that the program made, an index to find them by the correlation
// of their operations, and the activity of threads outside of calls.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/graph/event_graph.hpp"

namespace hone::analysis::dependencies {

/// Finds API calls by correlation; for a driver call inside a runtime call, it finds the runtime call.
class CallIndex {
 public:
  void add(int64_t correlation, int32_t call);
  void finish();
  /// Returns the first call with this correlation; -1 if there is none.
  int32_t find(int64_t correlation) const;

 private:
  std::vector<std::pair<int64_t, int32_t>> entries_;
  /// Indexed by correlation minus the first correlation, if they are dense enough, which is usual.
  std::vector<int32_t> table_;
};

/// Fills the graph's calls, ranges and overheads, and the part of them that belongs to each thread.
CallIndex add_host_events(EventGraph& graph);

}  // namespace hone::analysis::dependencies
