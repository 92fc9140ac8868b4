// A graph with concrete shapes, compiled for one device: steps in order, each with its kernel and the
// addresses of its operands. It is immutable, so any number of executions can share it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/kernel.hpp"
#include "engine/program/memory_plan.hpp"
#include "engine/program/node_kernel.hpp"
#include "engine/step_plan.hpp"
#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace hone::engine {

/// The location of an operand at run time.
struct Operand {
  enum class Storage { kAbsent, kArena, kInput, kOutput, kConstant, kDynamic };
  Storage storage = Storage::kAbsent;
  /// kArena: offset in bytes. kInput, kOutput: index. kDynamic: value id.
  int64_t position = 0;
  /// Only for kConstant.
  const void* data = nullptr;
  TensorDesc desc;
};

/// A tactic that refuses a step, and the reason.
struct TacticRefusal {
  TacticId tactic;
  Refusal reason;
};
/// Texts for people: "chain: only float32".
std::vector<std::string> texts_of(const std::vector<TacticRefusal>& refusals);

struct ProgramStep {
  /// The name of its node; for a piece, "name [2/3]".
  std::string name;
  /// An operator, or "Reorder" or "Copy" for a step that the engine inserted.
  std::string kind;
  /// The plan by which it runs.
  StepPlan plan;
  /// Index of the graph's node; -1 for inserted steps.
  int32_t node = -1;
  /// The StepKey::path of a piece of a dissolved node.
  std::vector<int32_t> path;
  /// The sources of its node, also for a piece.
  std::vector<std::string> sources;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  /// Null for a step that takes and returns whole tensors (DynamicValues). This step runs by its node
  /// kernel if it has one, else by the reference kernel of its node; a step without a node passes tensors on
  /// unchanged.
  std::shared_ptr<const Kernel> kernel;
  std::shared_ptr<const NodeKernel> node_kernel;
  bool runs_on_host() const { return kernel == nullptr || kernel->runs_on_host(); }
  /// Outputs that may use the memory of inputs.
  std::vector<SharedOperand> in_place;
  /// True if the engine inserted the step to copy bytes without conversion.
  bool copies_bytes() const;
  int64_t scratch_bytes = 0;
  int64_t counter_bytes = 0;
  /// Offset of its counters among the program's counters, in bytes.
  int64_t counters_at = 0;
  /// For a piece, the tactics that refused its whole node, with their reasons; empty if a plan dissolved the
  /// node.
  std::vector<TacticRefusal> whole_refusals;
  /// Tactics that were asked before this one, with their reasons.
  std::vector<TacticRefusal> refusals;
  /// If candidates are listed: every tactic that accepts the step (the reference only if no other does) and,
  /// for a fused node that a tactic accepts, kDissolved.
  std::vector<TacticId> candidates;

  bool is_piece() const { return !path.empty(); }
  StepKey key() const { return {node, path}; }
};

class Program {
 public:
  /// The compiled graph, including the values between pieces of dissolved nodes.
  const graph::Graph& graph() const { return *graph_; }
  const std::vector<ProgramStep>& steps() const { return steps_; }
  /// The node of the graph, or the piece of one, that a step runs; null for inserted steps.
  const graph::Node* node_of(const ProgramStep& step) const;
  /// The graph's nodes that run as pieces.
  const Plans& dissolved() const { return dissolved_; }
  const MemoryPlan& memory_plan() const { return memory_; }
  /// Size of the scratch memory that all steps share.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  /// Size of all steps' counters.
  int64_t counter_bytes() const { return counter_bytes_; }
  /// Size of the arena, the scratch memory and the counters together.
  int64_t activation_bytes() const { return memory_.peak_bytes + scratch_bytes_ + counter_bytes_; }
  /// Size of the constants that steps read in plain form, each counted once in the form in which it is read.
  int64_t constant_bytes() const;
  /// Size of the inputs and outputs with known shapes.
  int64_t io_bytes() const;
  /// Allocates host tensors for the outputs; they are undefined if the shape becomes known only at run time.
  std::vector<tensor::Tensor> make_outputs() const;
  /// Constants that kernels use in packed form.
  const std::vector<WeightKey>& packed() const { return packed_; }
  /// Constants that steps read in plain form.
  const std::vector<graph::ValueId>& plain_constants() const { return plain_constants_; }
  /// With ProgramOptions::list_candidates, the background preparation of candidates: hold it as long as they
  /// may be requested.
  const std::vector<Preparation>& preparations() const { return preparations_; }

 private:
  friend class ProgramBuilder;

  std::shared_ptr<const graph::Graph> graph_;
  std::vector<ProgramStep> steps_;
  std::map<StepKey, graph::Node> pieces_;
  Plans dissolved_;
  MemoryPlan memory_;
  int64_t scratch_bytes_ = 0;
  int64_t counter_bytes_ = 0;
  std::vector<WeightKey> packed_;
  std::vector<graph::ValueId> plain_constants_;
  std::vector<Preparation> preparations_;
  /// Constants that were rearranged when the program was made.
  std::vector<tensor::Tensor> owned_;
};

struct ProgramOptions {
  /// The policy of steps without a plan, except pieces, which use that of their node. float32_nodes() run in
  /// fp32, whatever this member or their plans say.
  NumericPolicy policy = {};
  Layout layout = Layout::kPlain;
  /// The layouts in which the graph's inputs are given; empty: all are plain.
  std::vector<Layout> input_layouts = {};
  /// Steps without a plan run by the first tactic that accepts. A node that no tactic accepts is dissolved if
  /// a tactic accepts a piece of it, unless its plan names the reference.
  Plans plans = {};
  /// Shapes of inputs may be open; the shape of such an input becomes known at run time.
  bool open_inputs = false;
  /// For a search: asks every tactic about steps without a plan, instead of stopping at the first that
  /// accepts.
  bool list_candidates = false;
  /// Also requests variants that a library does not recommend.
  bool exhaustive = false;
};

/// Compiles a graph whose input shapes are all concrete. Bad input if a step cannot run at all.
std::unique_ptr<Program> build_program(std::shared_ptr<const graph::Graph> graph, const Device& device,
                                       WeightStore& weights, const ProgramOptions& options);

/// The tactic that closes every list: the node's reference kernel on plain operands.
const Tactic& reference_tactic();

}  // namespace hone::engine
