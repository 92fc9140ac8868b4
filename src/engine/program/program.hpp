// A graph with concrete shapes, compiled for one device: steps in order, each with its kernel and where
// its operands are stored. Immutable: any number of executions share it.
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

/// The place of an operand while the program runs.
struct Operand {
  enum class Storage { kAbsent, kArena, kInput, kOutput, kConstant, kDynamic };
  Storage storage = Storage::kAbsent;
  /// kArena: bytes from its start. kInput, kOutput: index. kDynamic: value id.
  int64_t position = 0;
  /// kConstant.
  const void* data = nullptr;
  TensorDesc desc;
};

/// A tactic that does not take a step, and why.
struct TacticRefusal {
  TacticId tactic;
  Refusal reason;
};
/// For people: "chain: only float32".
std::vector<std::string> texts_of(const std::vector<TacticRefusal>& refusals);

struct ProgramStep {
  /// The name of its node; for a piece, "name [2/3]".
  std::string name;
  /// An operator, or "Reorder" or "Copy" for a step that the engine inserted.
  std::string kind;
  /// The plan by which it runs.
  StepPlan plan;
  /// Index of the graph's node, -1 for inserted steps.
  int32_t node = -1;
  /// The StepKey::path of a piece of a dissolved node.
  std::vector<int32_t> path;
  /// The sources of its node, also for a piece.
  std::vector<std::string> sources;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  /// Null for a step that takes and gives whole tensors (DynamicValues): by its node kernel, else by the
  /// reference kernel of its node, else as they are.
  std::shared_ptr<const Kernel> kernel;
  std::shared_ptr<const NodeKernel> node_kernel;
  bool runs_on_host() const { return kernel == nullptr || kernel->runs_on_host(); }
  /// Outputs that may be in the memory of inputs.
  std::vector<SharedOperand> in_place;
  /// True if the engine inserted it to copy bytes as they are.
  bool copies_bytes() const;
  int64_t scratch_bytes = 0;
  int64_t counter_bytes = 0;
  /// Where its counters begin in the program's, bytes.
  int64_t counters_at = 0;
  /// For a piece, the tactics that were asked for its whole node, with their reasons; none if it was to be
  /// dissolved.
  std::vector<TacticRefusal> whole_refusals;
  /// Tactics that were asked before this one, with their reasons.
  std::vector<TacticRefusal> refusals;
  /// Where they are listed, every tactic that accepts (the reference only when no other does) and, of a fused
  /// node that one accepts, kDissolved.
  std::vector<TacticId> candidates;

  bool is_piece() const { return !path.empty(); }
  StepKey key() const { return {node, path}; }
};

class Program {
 public:
  /// That which was compiled, and the values between pieces of dissolved nodes.
  const graph::Graph& graph() const { return *graph_; }
  const std::vector<ProgramStep>& steps() const { return steps_; }
  /// The node of the graph, or the piece of one, that a step runs; null for inserted steps.
  const graph::Node* node_of(const ProgramStep& step) const;
  /// The graph's nodes that run as their pieces.
  const Plans& dissolved() const { return dissolved_; }
  const MemoryPlan& memory_plan() const { return memory_; }
  /// Bytes of the scratch area shared by all steps.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  /// Bytes of all steps' counters.
  int64_t counter_bytes() const { return counter_bytes_; }
  /// Bytes of the arena, of the scratch area and of the counters.
  int64_t activation_bytes() const { return memory_.peak_bytes + scratch_bytes_ + counter_bytes_; }
  /// Bytes of the constants that steps read in plain form, each once, as they read them.
  int64_t constant_bytes() const;
  /// Bytes of the inputs and outputs whose shapes are known.
  int64_t io_bytes() const;
  /// Host tensors for the outputs; undefined where the shape is only known when the program runs.
  std::vector<tensor::Tensor> make_outputs() const;
  /// Constants some kernel holds in packed form.
  const std::vector<WeightKey>& packed() const { return packed_; }
  /// Constants some step reads in plain form.
  const std::vector<graph::ValueId>& plain_constants() const { return plain_constants_; }
  /// With ProgramOptions::list_candidates, what gets them ready: hold it for as long as they may be asked
  /// for.
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
  /// Constants brought into another arrangement when the program was made.
  std::vector<tensor::Tensor> owned_;
};

struct ProgramOptions {
  /// The policy of steps without a plan, except pieces, which take their node's. float32_nodes() run in fp32
  /// whatever is said here or by their plans.
  NumericPolicy policy = {};
  Layout layout = Layout::kPlain;
  /// The layouts in which the graph's inputs are given; empty: all are plain.
  std::vector<Layout> input_layouts = {};
  /// Steps without one run by the first tactic that accepts. A node that none accepts is dissolved, where one
  /// accepts a piece of it, unless it is to run by the reference.
  Plans plans = {};
  /// Shapes of inputs may be open: what such an input is given is known when the program runs.
  bool open_inputs = false;
  /// Ask every tactic of steps without a plan, for a search, instead of stopping at the first that accepts.
  bool list_candidates = false;
  /// Ask for variants that a library does not recommend, too.
  bool exhaustive = false;
};

/// Compiles a graph whose input shapes are all concrete. Bad input when a step cannot run at all.
std::unique_ptr<Program> build_program(std::shared_ptr<const graph::Graph> graph, const Device& device,
                                       WeightStore& weights, const ProgramOptions& options);

/// The tactic that closes every list: the node's reference kernel on plain operands.
const Tactic& reference_tactic();

}  // namespace hone::engine
