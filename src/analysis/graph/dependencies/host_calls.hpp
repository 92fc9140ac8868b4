// The host's side: the API calls that the program itself made, found again by the correlation of their
// operations, and what threads were doing outside of them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/graph/event_graph.hpp"

namespace hone::analysis::dependencies {

/// Finds the call that made an API call with this correlation; a driver call inside a runtime call leads to
/// the runtime call.
class CallIndex {
 public:
  void add(int64_t correlation, int32_t call);
  void finish();
  /// -1 when there is none. If there are several, the first.
  int32_t find(int64_t correlation) const;

 private:
  std::vector<std::pair<int64_t, int32_t>> entries_;
  /// By correlation minus that of the first entry, when they lie close together, which they mostly do.
  std::vector<int32_t> table_;
};

/// Fills the graph's calls, ranges and overheads, and its threads with their parts of them.
CallIndex add_host_events(EventGraph& graph);

}  // namespace hone::analysis::dependencies
