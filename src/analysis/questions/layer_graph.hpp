// Reads from a trace how the steps of a model hang together, and which tactics were looked at for them.
// Traces may come from anywhere: what cannot be is left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace hone::analysis {

/// A tactic that was looked at for a step, the chosen one among them.
struct LayerRival {
  std::string tactic;
  std::string layout;  ///< in which it was tried; empty where not recorded
  double time = 0;     ///< ns when the choice was made; 0 where not known
  bool chosen = false;
  std::string refusal;  ///< why it does not run the step; empty for one that does
};

/// `predecessors`: for each layer, the earlier layers whose outputs it reads, ascending and each once. Steps
/// of the same layer are one. `layer_of_step`: for each of the trace's steps, its layer, -1 for one that has
/// none; a value read through such a step is read from where that step reads. All lists are empty where edges
/// were not recorded, or are more than a million.
struct LayerEdges {
  std::vector<std::vector<int32_t>> predecessors;
  int64_t refused = 0;  ///< recorded, but no earlier step
};
LayerEdges layer_edges(const trace::Trace& trace, const std::vector<int32_t>& layer_of_step, size_t layers);

/// Parses the text of each layer, a list of the trace's JSON: {tactic, layout, time_us, chosen, refusal}.
/// Entries that name no tactic are left out, and all where they are more than 100 000.
std::vector<std::vector<LayerRival>> layer_rivals(const trace::Trace& trace,
                                                  const std::vector<trace::StringId>& texts);

}  // namespace hone::analysis
