// See control_node.hpp.
#include "engine/program/control_node.hpp"

#include <algorithm>
#include <exception>

#include "engine/program/executor.hpp"
#include "engine/program/program.hpp"
#include "engine/subgraph_plans.hpp"
#include "graph/subgraph.hpp"
#include "reference/control.hpp"
#include "reference/interpreter.hpp"

namespace hone::engine {
namespace {

using tensor::Tensor;

struct Subgraph {
  std::string name;
  std::shared_ptr<const Program> program;
  /// If there is no program, the error.
  std::exception_ptr fault;
};

class State final : public KernelState {
 public:
  /// Indexed by subgraph; null until its first run.
  std::vector<std::unique_ptr<Executor>> executors;
};

/// True if the tensors have exactly the types of the graph's inputs, all of which must be known.
bool are_declared(const graph::Graph& graph, const std::vector<Tensor>& tensors) {
  if (tensors.size() != graph.inputs.size()) return false;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const graph::TensorType& type = graph.value(graph.inputs[i]).type;
    const Shape& shape = tensors[i].shape();
    if (type.dtype != tensors[i].dtype() || !type.ranked()) return false;
    const bool same = std::equal(type.dims->begin(), type.dims->end(), shape.begin(), shape.end(),
                                 [](const graph::Dim& dim, int64_t size) { return dim.is(size); });
    if (!same) return false;
  }
  return true;
}

class ControlNode final : public NodeKernel {
 public:
  ControlNode(graph::Node node, const Device& device, std::vector<Subgraph> subgraphs)
      : node_(std::move(node)), device_(device), subgraphs_(std::move(subgraphs)) {}

  std::unique_ptr<KernelState> make_state() const override {
    auto state = std::make_unique<State>();
    state->executors.resize(subgraphs_.size());
    return state;
  }

  std::vector<Tensor> run(const std::vector<const Tensor*>& inputs, KernelState& given) const override {
    auto& state = dynamic_cast<State&>(given);
    return reference::run_control(node_, inputs,
                                  [&](const char* attribute, const std::vector<Tensor>& arguments) {
                                    return run_subgraph(index_of(attribute), arguments, state);
                                  });
  }

  std::vector<SubgraphProgram> programs() const override {
    std::vector<SubgraphProgram> result;
    for (size_t i = 0; i < subgraphs_.size(); ++i) {
      if (subgraphs_[i].program != nullptr)
        result.push_back({static_cast<int32_t>(i), subgraphs_[i].name, subgraphs_[i].program});
    }
    return result;
  }

 private:
  size_t index_of(const char* attribute) const {
    const auto found = std::find_if(subgraphs_.begin(), subgraphs_.end(),
                                    [&](const Subgraph& subgraph) { return subgraph.name == attribute; });
    return static_cast<size_t>(found - subgraphs_.begin());
  }

  std::vector<Tensor> run_subgraph(size_t index, const std::vector<Tensor>& arguments, State& state) const {
    const Subgraph& subgraph = subgraphs_[index];
    if (subgraph.fault != nullptr) std::rethrow_exception(subgraph.fault);
    // The full check takes as long as a small step, and loops pass the same types in every iteration.
    if (!are_declared(subgraph.program->graph(), arguments))
      reference::check_inputs(subgraph.program->graph(), arguments);
    std::unique_ptr<Executor>& executor = state.executors[index];
    if (executor == nullptr) executor = device_.make_executor(*subgraph.program);
    executor->upload(arguments);
    executor->execute(nullptr);
    // Releases the inputs, which a host executor would otherwise keep until the next run.
    if (device_.place().kind == tensor::PlaceKind::kCpu) executor->upload({});
    return executor->download();
  }

  graph::Node node_;
  const Device& device_;
  std::vector<Subgraph> subgraphs_;
};

/// True if all operands of all its steps, and of the programs that it runs, have known shapes.
bool is_static(const Program& program) {
  const auto is_known = [](const Operand& operand) { return operand.storage != Operand::Storage::kDynamic; };
  for (const graph::ValueId id : program.graph().inputs) {
    if (!program.graph().value(id).type.fully_known()) return false;
  }
  return std::all_of(program.steps().begin(), program.steps().end(), [&](const ProgramStep& step) {
    return std::all_of(step.inputs.begin(), step.inputs.end(), is_known) &&
           std::all_of(step.outputs.begin(), step.outputs.end(), is_known);
  });
}

/// A subgraph of the node, with the types of the inputs that the node passes to it.
std::shared_ptr<const graph::Graph> typed(const graph::Graph& graph, const graph::Node& node,
                                          const std::string& attribute) {
  const auto& body = *node.attributes.get<std::shared_ptr<graph::Graph>>(attribute);
  return std::make_shared<const graph::Graph>(
      graph::typed_subgraph(body, graph::subgraph_inputs(graph, node)));
}

}  // namespace

std::shared_ptr<const NodeKernel> make_control_node(const graph::Graph& graph, const graph::Node& node,
                                                    const StepKey& key, const Device& device,
                                                    WeightStore& weights, const ProgramOptions& options) {
  std::vector<Subgraph> subgraphs;
  ProgramOptions own = options;
  own.input_layouts.clear();
  own.open_inputs = true;
  own.list_candidates = false;
  for (const std::string& attribute : graph::subgraph_attributes(node)) {
    Subgraph made{.name = attribute};
    own.plans = plans_within(options.plans, key.piece(static_cast<int32_t>(subgraphs.size())));
    try {
      made.program = build_program(typed(graph, node, attribute), device, weights, own);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadInput) throw;
      made.fault = std::current_exception();
    }
    if (device.place().kind != tensor::PlaceKind::kCpu && made.program != nullptr &&
        !is_static(*made.program))
      return nullptr;
    subgraphs.push_back(std::move(made));
  }
  return std::make_shared<ControlNode>(node, device, std::move(subgraphs));
}

}  // namespace hone::engine
