// Predicts how much sooner a program would end after a change, by replaying its event graph.
#pragma once

#include <string>
#include <vector>

#include "analysis/graph/replay.hpp"
#include "base/json.hpp"

namespace hone::analysis {

enum class ChangeKind : uint8_t {
  kFaster,         ///< all operations of a name take 1/factor of their time
  kOverlapCopies,  ///< copies overlap other work
  kNoWait          ///< calls of a name no longer wait
};
std::string_view change_kind_name(ChangeKind kind);

struct WhatIf {
  ChangeKind kind = ChangeKind::kFaster;
  std::string name;   ///< of the operations or calls; empty for copies
  double factor = 0;  ///< kFaster: how many times faster; 0 for "takes no time", the limit of all speedups
  Time wall = 0;      ///< predicted wall time, ns
  Time gain = 0;      ///< measured wall time minus the prediction
  double share = 0;   ///< gain divided by the measured wall time
  /// True if the gain is only an upper bound, because the operation may need data in ways that the trace does
  /// not show.
  bool is_bound = false;
};

struct WhatIfs {
  Time wall = 0;             ///< measured; a replay without changes gives the same
  std::vector<WhatIf> rows;  ///< largest gain first
};

/// Evaluates for each of the eight operations (by name) with the most time on the critical path: twice as
/// fast, and no time at all; overlapped copies; and no waiting in each of the four calls that waited longest.
/// O(n log n).
WhatIfs what_if(const EventGraph& graph);
WhatIfs what_if(const trace::Trace& trace);

Json to_json(const WhatIfs& what_ifs);

}  // namespace hone::analysis
