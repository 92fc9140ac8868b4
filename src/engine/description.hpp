// The description of an engine for `hone inspect`: steps with sources, fusions, tactic and rivals, operands,
// work, memory.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "engine/engine.hpp"
#include "engine/loaded_engine.hpp"

namespace hone::engine {

struct StepDescription {
  std::string name;
  std::string kind;
  std::string tactic;
  /// Name of its numeric policy; empty for a step that the engine inserted.
  std::string policy;
  std::vector<std::string> sources;
  /// For a piece of a dissolved node, the operator of that node.
  std::string piece_of;
  /// Why the node is not a step of its own, one "tactic: reason" each; empty if its pieces were chosen by the
  /// search.
  std::vector<std::string> whole_refusals;
  /// Operations inside the step besides its operator ("add", "relu").
  std::vector<std::string> post_ops;
  /// "float32 1x64x56x56 blocked8"; packed weights are left out.
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  /// Operations (a multiply-add counts as two) and bytes (inputs, weights and outputs, each once).
  double flops = 0;
  double bytes = 0;
  /// Indices of the steps whose outputs it reads.
  std::vector<int32_t> predecessors;
  std::vector<TacticRecord> rivals;
  /// For a piece, the rivals of its whole node.
  std::vector<TacticRecord> whole_rivals;
  /// For an If, a Loop or a Scan, the steps of its subgraphs; the data decide how often each runs.
  std::vector<StepDescription> inner_steps;
};

struct Description {
  std::vector<StepDescription> steps;
  /// Why memory is unknown and inserted steps are missing; empty if the kernels were made.
  std::string note;
  int64_t weight_bytes = 0;
  int64_t arena_bytes = 0;
  int64_t naive_bytes = 0;
  int64_t lower_bound_bytes = 0;
  int64_t scratch_bytes = 0;
  /// Memory of one context on the device that runs it: packed weights, plain constants, arena, scratch
  /// memory, inputs and outputs, and the sum.
  int64_t packed_bytes = 0;
  int64_t constant_bytes = 0;
  int64_t io_bytes = 0;
  int64_t planned_bytes() const {
    return packed_bytes + constant_bytes + arena_bytes + scratch_bytes + io_bytes;
  }
  double flops = 0;
};

/// Describes the program for inputs of these shapes, in graph order.
Description describe(LoadedEngine& loaded, const std::vector<Shape>& shapes);

/// Says which steps of a GPU program the host computes, and what that costs; empty if there are none.
std::string host_steps_note(const Program& program);

/// Describes an engine for another machine, whose kernels cannot be made here, from its recorded nodes at the
/// tuned shapes.
Description describe_record(const Engine& engine);

/// The whole description and the engine's own fields, under the names of the structs' members.
Json description_json(const Engine& engine, const Description& description);

/// The shapes for which the engine was tuned; usage error if an input has none.
std::vector<Shape> tuned_shapes(const Engine& engine);

}  // namespace hone::engine
