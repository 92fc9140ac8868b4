// Reads from a trace how the steps of a model are connected, and which tactics were considered for them.
// Traces are untrusted: impossible entries are ignored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace hone::analysis {

/// A tactic that was considered for a step; the chosen one is among them.
struct LayerRival {
  std::string tactic;
  std::string layout;  ///< layout in which it was tried; empty if not recorded
  double time = 0;     ///< ns, measured when the choice was made; 0 if unknown
  bool chosen = false;
  std::string refusal;  ///< why it cannot run the step; empty for one that can
};

/// `predecessors`: for each layer, the earlier layers whose outputs it reads, ascending and without
/// repetition. Several steps of the same layer are combined. `layer_of_step`: for each step of the trace, its
/// layer, or -1 if it has none; a value read through such a step counts as read from the layers that the step
/// reads. All lists are empty if edges were not recorded, or if there are more than a million.
struct LayerEdges {
  std::vector<std::vector<int32_t>> predecessors;
  int64_t refused = 0;  ///< recorded edges that do not lead to an earlier step
};
LayerEdges layer_edges(const trace::Trace& trace, const std::vector<int32_t>& layer_of_step, size_t layers);

/// Parses the text of each layer, a list in JSON: {tactic, layout, time_us, chosen, refusal}. Entries without
/// a tactic are ignored; if there are more than 100 000 entries, all are.
std::vector<std::vector<LayerRival>> layer_rivals(const trace::Trace& trace,
                                                  const std::vector<trace::StringId>& texts);

}  // namespace hone::analysis
