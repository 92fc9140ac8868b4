// Why the GPU waits during an iteration.
#pragma once

#include "analysis/graph/event_graph.hpp"
#include "analysis/questions/steps.hpp"

namespace hone::analysis {

/// Mean time per iteration in which the device was idle between two of its operations, by cause; ns.
struct IterationIdle {
  double launches = 0;  ///< the host was in a launching call, or the launch had not reached the device
  double calls = 0;     ///< the host was in another call of the API: a copy, a wait, an allocation
  double host = 0;      ///< the host was outside of calls
  double gaps = 0;      ///< the dependencies of the operation had ended, but it had not begun
  double unknown = 0;

  double sum() const { return launches + calls + host + gaps + unknown; }
};

/// For the device with the lowest number among those that ran something, over the spans of the steps.
IterationIdle iteration_idle(const EventGraph& graph, const StepList& steps);

}  // namespace hone::analysis
