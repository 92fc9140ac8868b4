// How much sooner a program would end if something about it changed: answers from replaying its event graph.
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
  Time wall = 0;      ///< it would take, ns
  Time gain = 0;      ///< the measured wall time minus that
  double share = 0;   ///< gain by the measured wall time
  /// The operation may need data in ways that the trace does not show: the gain is at most this.
  bool is_bound = false;
};

struct WhatIfs {
  Time wall = 0;             ///< measured; also what a replay of the unchanged program gives
  std::vector<WhatIf> rows;  ///< largest gain first
};

/// Twice as fast and no time for each of the eight operations (by name) with the most time on the critical
/// path; copies overlapped; no waiting in each of the four calls that waited longest. O(n log n).
WhatIfs what_if(const EventGraph& graph);
WhatIfs what_if(const trace::Trace& trace);

Json to_json(const WhatIfs& what_ifs);

}  // namespace hone::analysis
