// Compiles a graph with concrete shapes: asks the device for each node, converts operands to the required
// arrangement, and shares and plans memory.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/out_of_memory.hpp"
#include "engine/float32_nodes.hpp"
#include "engine/program/arena_plan.hpp"
#include "engine/program/control_node.hpp"
#include "engine/program/deferred_node.hpp"
#include "engine/program/dissolve.hpp"
#include "engine/program/program.hpp"
#include "engine/program/program_graph.hpp"
#include "engine/program/slots.hpp"
#include "engine/program/tactic_choice.hpp"
#include "graph/operator.hpp"
#include "graph/region.hpp"
#include "graph/subgraph.hpp"

namespace hone::engine {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using tensor::Tensor;

namespace {

constexpr int64_t kCounterAlignment = 256;  ///< alignment of each step's counters, bytes

std::vector<TacticRefusal> both(std::vector<TacticRefusal> first, const std::vector<TacticRefusal>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

class ProgramBuilder {
 public:
  ProgramBuilder(std::shared_ptr<const graph::Graph> graph, const Device& device, WeightStore& weights,
                 const ProgramOptions& options)
      : graph_(std::move(graph)),
        device_(device),
        options_(options),
        weights_(weights),
        choice_(device, weights),
        policies_(*graph_) {
    slot_of_.assign(graph_->values.size(), -1);
  }

  std::unique_ptr<Program> build() {
    for (size_t i = 0; i < graph_->inputs.size(); ++i) add_input(i);
    for (size_t i = 0; i < graph_.given().nodes.size(); ++i) {
      try {
        add_node({.node = graph_.given().nodes[i],
                  .key = {static_cast<int32_t>(i), {}},
                  .layout = options_.layout,
                  .policy = options_.policy});
      } catch (const Error& error) {
        if (error.where().empty() && error.kind() == ErrorKind::kBadInput)
          rethrow_within(error, graph_.given().nodes[i].text());
        throw;
      }
    }
    for (size_t i = 0; i < graph_->outputs.size(); ++i) add_output(i);
    finish();
    return std::move(program_);
  }

 private:
  bool is_static(ValueId id) const { return id == kNoValue || graph_->value(id).type.fully_known(); }

  void add_input(size_t index) {
    const ValueId id = graph_->inputs[index];
    if (!is_static(id) && options_.open_inputs) {
      slot_of_[static_cast<size_t>(id)] = slots_.add({.storage = Operand::Storage::kDynamic, .index = id});
      return;
    }
    if (!is_static(id)) {
      fail_usage("input '{}' has no concrete shape ({})", graph_->value(id).name,
                 graph_->value(id).type.text());
    }
    TensorDesc desc = plain_desc(graph_->value(id).type);
    if (!options_.input_layouts.empty()) desc.layout = options_.input_layouts[index];
    slot_of_[static_cast<size_t>(id)] = slots_.add(
        {.desc = std::move(desc), .storage = Operand::Storage::kInput, .index = static_cast<int64_t>(index)});
  }

  /// The current slot of a value; constants get a slot when one is first requested.
  int32_t slot(ValueId id) {
    int32_t& known = slot_of_[static_cast<size_t>(id)];
    if (known < 0) {
      const Tensor* constant = graph_->constant(id);
      if (constant == nullptr && graph_->value(id).constant) {
        // Only a packed form is stored; tactics that accept it do not read these bytes.
        const Tensor& type = *graph_->value(id).constant;
        return known = slots_.add({.desc = {type.dtype(), type.shape(), Layout::kPlain},
                                   .storage = Operand::Storage::kConstant});
      }
      if (constant == nullptr) fail_internal("value '{}' is read before it is made", graph_->value(id).name);
      known = slots_.add({.desc = {constant->dtype(), constant->shape(), Layout::kPlain},
                          .storage = Operand::Storage::kConstant,
                          .data = constant->bytes()});
    }
    return known;
  }

  void need_plain_constant(ValueId id) {
    // For a view of a constant, the source was already recorded when the view was made. A constant in a
    // branch is stored with the branch, and one that depends on shapes is computed again.
    if (id == kNoValue || !graph_.is_given_constant(id)) return;
    if (graph_->constant(id) == nullptr) {
      fail_bad_input("the engine holds constant '{}' in packed form only, and a step needs it plain",
                     graph_->value(id).name);
    }
    plain_constants_.insert(id);
  }

  /// Returns a slot with the same value in the arrangement `wanted`, after a reorder step if necessary.
  int32_t arrange(int32_t from, const TensorDesc& wanted, const std::string& name) {
    if (slots_.at(from).storage == Operand::Storage::kDynamic)
      fail_internal("'{}' has no shape to arrange", name);
    const TensorDesc have = slots_.at(from).desc;
    if (same_arrangement(have, wanted)) return from;
    const auto [first, last] = arranged_.equal_range(from);
    for (auto known = first; known != last; ++known) {
      if (slots_.at(known->second).desc == wanted) return known->second;
    }
    if (slots_.at(from).storage == Operand::Storage::kConstant) {
      const int32_t result = slots_.add({.desc = wanted, .storage = Operand::Storage::kConstant});
      Tensor bytes(DType::kUInt8, {wanted.bytes()});
      device_.arrange_constant(have, wanted, slots_.at(from).data, bytes.mutable_bytes());
      slots_.at(result).data = bytes.bytes();
      program_->owned_.push_back(std::move(bytes));
      arranged_.emplace(from, result);
      return result;
    }
    const int32_t result = slots_.add({.desc = wanted});
    DraftStep draft = make_copy(from, result, "Reorder", name);
    steps_.push_back(std::move(draft));
    arranged_.emplace(from, result);
    return result;
  }

  /// The plan of steps that the engine inserts.
  StepPlan inserted_plan(const char* tactic) const {
    return {{tactic, {}}, options_.layout, options_.policy};
  }

  DraftStep make_copy(int32_t from, int32_t to, const char* kind, const std::string& name) const {
    DraftStep draft;
    draft.step.name = fmt::format("{} of {}", kind, name);
    draft.step.kind = kind;
    draft.step.plan = inserted_plan("reorder");
    draft.step.kernel = device_.make_reorder(slots_.at(from).desc, slots_.at(to).desc);
    draft.inputs = {from};
    draft.outputs = {to};
    return draft;
  }

  /// A node, or a piece of a dissolved one, that will become a step.
  struct Work {
    const Node& node;
    StepKey key;
    /// Taken from its plan, unless the work has its own layout.
    Layout layout = Layout::kPlain;
    NumericPolicy policy = {};
    /// For a piece, its ProgramStep::whole_refusals, including those of the pieces that contain it.
    std::vector<TacticRefusal> whole_refusals = {};
    std::vector<TacticRefusal> refusals = {};
  };

  void add_node(const Work& work) {
    const Node& node = work.node;
    if (add_constant(node) || add_branch(work) || add_control_step(work)) return;
    const auto all_static = [&](const std::vector<ValueId>& ids) {
      return std::all_of(ids.begin(), ids.end(), [&](ValueId id) { return is_static(id); });
    };
    if (!all_static(node.inputs) || !all_static(node.outputs)) return add_dynamic_step(work);
    if (graph::traits_of(node).view) return add_view(node);
    if (!is_stored_alike(work)) return add_static_step(work);
    slot_of_[static_cast<size_t>(node.outputs[0])] = slot(node.inputs[0]);
  }

  bool is_stored_alike(const Work& work) {
    if (work.node.op != "Cast" || policies_.is_float32(work.key.node, work.policy)) return false;
    const ValueId from = work.node.inputs[0];
    return !graph_->value(from).constant &&
           engine::is_stored_alike(slots_.at(slot(from)).desc.dtype,
                                   graph_->value(work.node.outputs[0]).type.dtype, work.policy);
  }

  void add_view(const Node& node) {
    const ValueId source = node.inputs[0];
    if (graph_->value(source).constant) need_plain_constant(source);
    const int32_t current = slot(source);
    TensorDesc plain = slots_.at(current).desc;
    plain.layout = Layout::kPlain;
    const int32_t from = arrange(current, plain, graph_->value(source).name);
    Slot view = slots_.at(from);
    view.desc = {plain.dtype, plain_desc(graph_->value(node.outputs[0]).type).shape, Layout::kPlain};
    if (view.storage == Operand::Storage::kArena) {
      view.parent = from;
      view.offset = 0;
    }
    slot_of_[static_cast<size_t>(node.outputs[0])] = slots_.add(std::move(view));
  }

  /// The current or expected arrangement of the value.
  TensorDesc desc_of(ValueId id) {
    if (id == kNoValue) return {};
    const bool made = slot_of_[static_cast<size_t>(id)] >= 0 || graph_->value(id).constant;
    return made ? slots_.at(slot(id)).desc : plain_desc(graph_->value(id).type);
  }

  StepRequest request_for(const Node& node, const StepPlan& plan) {
    StepRequest request{.graph = *graph_,
                        .node = node,
                        .policy = plan.policy,
                        .layout = plan.layout,
                        .exhaustive = options_.exhaustive};
    for (const ValueId id : node.inputs) request.inputs.push_back(desc_of(id));
    for (const ValueId id : node.outputs)
      request.outputs.push_back(id == kNoValue ? TensorDesc{} : plain_desc(graph_->value(id).type));
    return request;
  }

  void add_static_step(const Work& work) {
    const auto planned = options_.plans.find(work.key);
    const bool is_planned = planned != options_.plans.end();
    const bool lists = options_.list_candidates && !is_planned;
    StepPlan plan = is_planned ? planned->second : StepPlan{{}, work.layout, work.policy};
    plan.policy = policies_.policy_for(work.key.node, plan.policy);
    if (plan.tactic.dissolves() && add_pieces(work, plan, {})) return;
    TacticAnswer answer = choice_.ask(request_for(work.node, plan), plan.tactic, lists);
    if (!answer.offers() && add_pieces(work, plan, answer.refusals)) return;
    if (!answer.offers()) {
      choice_.ask_reference(request_for(work.node, plan), answer);
    } else if (lists && work.key.path.empty() && has_pieces(work.node)) {
      answer.candidates.push_back({std::string(kDissolved), {}});
    }
    plan.tactic = answer.tactic;
    add_step(work, plan, answer);
  }

  void add_step(const Work& work, const StepPlan& plan, TacticAnswer& answer) {
    const Node& node = work.node;
    const Offer& offer = answer.offer;
    DraftStep draft;
    draft.step = {.name = node.name,
                  .kind = graph::kind_of(node),
                  .plan = plan,
                  .node = work.key.node,
                  .path = work.key.path,
                  .sources = node.sources,
                  .whole_refusals = work.whole_refusals,
                  .refusals = both(work.refusals, answer.refusals),
                  .candidates = std::move(answer.candidates)};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue || offer.inputs[i].dtype == DType::kUndefined) {
        draft.inputs.push_back(-1);
        continue;
      }
      const int32_t from = slot(node.inputs[i]);
      if (slots_.at(from).storage == Operand::Storage::kConstant) need_plain_constant(node.inputs[i]);
      draft.inputs.push_back(arrange(from, offer.inputs[i], graph_->value(node.inputs[i]).name));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue || offer.outputs[i].dtype == DType::kUndefined) {
        draft.outputs.push_back(-1);
        continue;
      }
      draft.outputs.push_back(slots_.add({.desc = offer.outputs[i]}));
      slot_of_[static_cast<size_t>(node.outputs[i])] = draft.outputs.back();
    }
    draft.step.kernel =
        plan.policy.is_emulated() ? device_.make_rounding(offer.kernel, offer.outputs) : offer.kernel;
    draft.step.scratch_bytes = offer.scratch_bytes;
    draft.step.counter_bytes = offer.counter_bytes;
    draft.accumulations = offer.accumulations;
    draft.in_place_input = offer.in_place_input;
    draft.step.in_place = offer.accumulations;
    if (offer.in_place_input >= 0)
      draft.step.in_place.push_back({0, static_cast<size_t>(offer.in_place_input)});
    draft.concatenates = offer.concatenates;
    draft.part_alignment = offer.part_alignment;
    packed_.insert(offer.packed.begin(), offer.packed.end());
    steps_.push_back(std::move(draft));
  }

  /// Adds a fused node as its pieces; returns false without any effect if that is useless.
  bool add_pieces(const Work& whole, const StepPlan& plan, const std::vector<TacticRefusal>& refusals) {
    if (!is_fused(whole.node)) return false;
    std::vector<Node> pieces = dissolve(graph_.own(), whole.node, [&](const Node& node) {
      slot_of_.resize(graph_->values.size(), -1);
      return choice_.is_taken(request_for(node, plan));
    });
    if (pieces.empty()) return false;
    // Other constants are computed from these when the engine is loaded, so they are kept in plain form.
    for (const ValueId id : unread_inputs(whole.node, pieces)) need_plain_constant(id);
    for (size_t i = 0; i < pieces.size(); ++i)
      pieces[i].name = fmt::format("{} [{}/{}]", whole.node.name, i + 1, pieces.size());
    add_each(std::move(pieces), whole.key, whole, plan, refusals);
    return true;
  }

  /// Adds nodes that replace a whole one; they run with its layout and policy unless they have plans.
  void add_each(std::vector<Node> pieces, const StepKey& parent, const Work& whole, const StepPlan& plan,
                const std::vector<TacticRefusal>& refusals) {
    slot_of_.resize(graph_->values.size(), -1);
    const bool outermost = whole.key.path.empty();
    for (size_t i = 0; i < pieces.size(); ++i) {
      pieces[i].sources = whole.node.sources;
      const StepKey key = parent.piece(static_cast<int32_t>(i));
      add_node({.node = program_->pieces_.emplace(key, std::move(pieces[i])).first->second,
                .key = key,
                .layout = plan.layout,
                .policy = plan.policy,
                .whole_refusals = outermost ? refusals : whole.whole_refusals,
                .refusals = outermost ? std::vector<TacticRefusal>() : both(whole.refusals, refusals)});
    }
    if (outermost)
      program_->dissolved_[whole.key] = {{std::string(kDissolved), {}}, plan.layout, plan.policy, plan.place};
  }

  bool add_constant(const Node& node) {
    if (!graph_.make_constant(node)) return false;
    for (const ValueId id : node.inputs) need_plain_constant(id);
    return true;
  }

  /// Adds an If as the nodes of the branch that the shapes or a constant select. They become its pieces, with
  /// different keys for each branch. Returns false if the branch is unknown, or if the reference must run the
  /// node.
  bool add_branch(const Work& whole) {
    const auto condition = graph::known_condition(*graph_, whole.node);
    const auto planned = options_.plans.find(whole.key);
    const bool is_planned = planned != options_.plans.end();
    const StepPlan plan = is_planned ? planned->second : StepPlan{{}, whole.layout, whole.policy};
    if (!condition || plan.tactic.name == reference_tactic().name) return false;
    add_each(graph::inline_branch(graph_.own(), whole.node, *condition, whole.key.text()),
             whole.key.piece(*condition ? 0 : 1), whole, plan, {});
    return true;
  }

  bool is_by_reference(const Work& work) const {
    const auto plan = options_.plans.find(work.key);
    return plan != options_.plans.end() && plan->second.tactic.name == reference_tactic().name;
  }

  /// Adds an If, a Loop or a Scan as a step that runs programs. Returns false for other nodes, if the
  /// reference must run the node, and if the device cannot run it.
  bool add_control_step(const Work& work) {
    if (!graph::controls_subgraphs(work.node) || is_by_reference(work)) return false;
    ProgramOptions inner = options_;
    inner.policy = policies_.policy_for(work.key.node, work.policy);
    inner.layout = work.layout;
    auto kernel = make_control_node(*graph_, work.node, work.key, device_, weights_, inner);
    if (kernel == nullptr) return false;
    for (const SubgraphProgram& subgraph : kernel->programs())
      packed_.insert(subgraph.program->packed().begin(), subgraph.program->packed().end());
    add_tensor_step(work, "subgraphs", std::move(kernel));
    return true;
  }

  /// Adds a step with a value whose shape becomes known only at run time.
  void add_dynamic_step(const Work& work) {
    std::shared_ptr<const NodeKernel> kernel;
    if (device_.place().kind == tensor::PlaceKind::kCpu && !is_by_reference(work)) {
      if (compiler_ == nullptr) compiler_ = std::make_shared<NodeCompiler>(device_, work.layout, work.policy);
      kernel =
          make_deferred_node(*graph_, work.node, compiler_, policies_.is_float32(work.key.node, work.policy));
    }
    add_tensor_step(work, kernel == nullptr ? "reference" : "deferred", kernel);
  }

  /// Adds a step that takes and returns whole tensors; without a kernel, it uses the reference.
  void add_tensor_step(const Work& work, const char* tactic, std::shared_ptr<const NodeKernel> kernel) {
    const Node& node = work.node;
    DraftStep draft;
    draft.step = {.name = node.name,
                  .kind = graph::kind_of(node),
                  .plan = inserted_plan(tactic),
                  .node = work.key.node,
                  .path = work.key.path,
                  .sources = node.sources,
                  .node_kernel = std::move(kernel)};
    for (const ValueId id : node.inputs) draft.inputs.push_back(id == kNoValue ? -1 : plain_slot(id));
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) {
        draft.outputs.push_back(-1);
        continue;
      }
      const int32_t made = is_static(id) ? slots_.add({.desc = plain_desc(graph_->value(id).type)})
                                         : slots_.add({.storage = Operand::Storage::kDynamic, .index = id});
      slot_of_[static_cast<size_t>(id)] = made;
      draft.outputs.push_back(made);
    }
    steps_.push_back(std::move(draft));
  }

  /// Returns the value as the graph declares it: in plain layout with its own element type.
  int32_t plain_slot(ValueId id) {
    const int32_t current = slot(id);
    if (slots_.at(current).storage == Operand::Storage::kDynamic) return current;
    if (slots_.at(current).storage == Operand::Storage::kConstant) need_plain_constant(id);
    return arrange(current, plain_desc(graph_->value(id).type), graph_->value(id).name);
  }

  void add_output(size_t index) {
    const ValueId id = graph_->outputs[index];
    const int32_t current = slot(id);
    const bool constant = slots_.at(current).storage == Operand::Storage::kConstant;
    if (constant) need_plain_constant(id);
    Slot result{.storage = Operand::Storage::kOutput, .index = static_cast<int64_t>(index)};
    if (slots_.at(current).storage == Operand::Storage::kDynamic) {
      DraftStep draft;
      draft.step = {
          .name = "Copy of " + graph_->value(id).name, .kind = "Copy", .plan = inserted_plan("copy")};
      draft.inputs = {current};
      draft.outputs = {slots_.add(std::move(result))};
      steps_.push_back(std::move(draft));
      return;
    }
    result.desc = plain_desc(graph_->value(id).type);
    Slot& made = slots_.at(current);
    if (made.storage == Operand::Storage::kArena && made.parent < 0 && made.desc == result.desc) {
      made.storage = Operand::Storage::kOutput;
      made.index = static_cast<int64_t>(index);
      return;
    }
    const int32_t target = slots_.add(std::move(result));
    steps_.push_back(make_copy(current, target, "Copy", graph_->value(id).name));
  }

  void finish() {
    const std::vector<PendingCopy> copies = share_slots(slots_, steps_);
    std::vector<DraftStep> ordered;
    size_t next_copy = 0;
    for (size_t i = 0; i < steps_.size(); ++i) {
      for (; next_copy < copies.size() && copies[next_copy].step == static_cast<int32_t>(i); ++next_copy) {
        ordered.push_back(
            make_copy(copies[next_copy].from, copies[next_copy].to, "Copy", steps_[i].step.name));
      }
      if (!steps_[i].elided) ordered.push_back(std::move(steps_[i]));
    }
    const ArenaPlan arena(slots_, ordered);
    program_->memory_ = arena.memory();
    int64_t scratch = 0;
    for (DraftStep& draft : ordered) {
      for (const int32_t id : draft.inputs) draft.step.inputs.push_back(arena.operand(id));
      for (const int32_t id : draft.outputs) draft.step.outputs.push_back(arena.operand(id));
      scratch = std::max(scratch, draft.step.scratch_bytes);
      draft.step.counters_at = program_->counter_bytes_;
      program_->counter_bytes_ +=
          (draft.step.counter_bytes + kCounterAlignment - 1) / kCounterAlignment * kCounterAlignment;
      program_->steps_.push_back(std::move(draft.step));
    }
    program_->scratch_bytes_ = scratch;
    program_->graph_ = graph_.share();
    program_->preparations_ = choice_.prepare();
    if (compiler_ != nullptr) compiler_->take_weights(weights_);
    program_->packed_.assign(packed_.begin(), packed_.end());
    program_->plain_constants_.assign(plain_constants_.begin(), plain_constants_.end());
  }

  ProgramGraph graph_;
  const Device& device_;
  const ProgramOptions& options_;
  WeightStore& weights_;
  TacticChoice choice_;
  /// Null until a node needs it.
  std::shared_ptr<NodeCompiler> compiler_;
  std::unique_ptr<Program> program_ = std::make_unique<Program>();
  SlotTable slots_;
  std::vector<int32_t> slot_of_;
  /// Indexed by node of the given graph.
  NodePolicies policies_;
  /// Pairs of a slot and another slot with the same value in another arrangement.
  std::multimap<int32_t, int32_t> arranged_;
  std::vector<DraftStep> steps_;
  std::set<WeightKey> packed_;
  std::set<ValueId> plain_constants_;
};

std::unique_ptr<Program> build_program(std::shared_ptr<const graph::Graph> graph, const Device& device,
                                       WeightStore& weights, const ProgramOptions& options) {
  return ProgramBuilder(std::move(graph), device, weights, options).build();
}

}  // namespace hone::engine
