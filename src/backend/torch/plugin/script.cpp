// See script.hpp. This is the only file with the JIT's headers, which take the longest to compile.
#include "backend/torch/plugin/script.hpp"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/version.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "backend/torch/plugin/convert.hpp"

namespace hone::backend::aten {
namespace {

namespace jit = torch::jit;

/// Runs of the profiling executor until the optimized graph is ready: one that records, one that compiles,
/// and one for the fallbacks that compiling may leave.
constexpr int kWarmUpRuns = 3;

void append_tensors(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    tensors.push_back(value.toTensor());
    return;
  }
  if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) append_tensors(element, tensors);
    return;
  }
  if (value.isTensorList()) {
    for (const at::Tensor& element : value.toTensorVector()) tensors.push_back(element);
    return;
  }
  fail_bad_input("its forward returns {}, not tensors", value.tagKind());
}

int64_t parameter_bytes(const jit::Module& module) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : module.parameters()) bytes += static_cast<int64_t>(tensor.nbytes());
  for (const at::Tensor& tensor : module.buffers()) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

#if TORCH_VERSION_MAJOR < 2
/// The number of filters of the convolution that produces a
/// value, found through first operands; nullopt if there is none.
std::optional<int64_t> filters_of(const jit::Value* value) {
  for (const jit::Node* node = value->node(); !node->inputs().empty(); node = node->input(0)->node()) {
    const std::string_view kind = node->kind().toQualString();
    if (kind != "aten::_convolution" && !kind.starts_with("aten::conv")) continue;
    const auto weight = jit::toIValue(node->input(1));
    if (!weight || !weight->isTensor()) return std::nullopt;
    return weight->toTensor().size(0);
  }
  return std::nullopt;
}
#endif

/// True if optimizing for oneDNN would give wrong outputs. PyTorch 1.13 computes these functions in place in
/// oneDNN's images, ignores the channels that pad its blocks, and gives the images another size.
bool breaks_in_onednn([[maybe_unused]] const jit::Module& frozen) {
#if TORCH_VERSION_MAJOR < 2
  static constexpr int64_t kBlock = 16;
  static const std::set<std::string_view> functions{
      "aten::clamp",  "aten::hardtanh",  "aten::relu6",  "aten::hardswish",  "aten::hardsigmoid",
      "aten::clamp_", "aten::hardtanh_", "aten::relu6_", "aten::hardswish_", "aten::hardsigmoid_"};
  const auto graph = frozen.get_method("forward").graph();
  return std::any_of(graph->nodes().begin(), graph->nodes().end(), [](const jit::Node* node) {
    return functions.contains(node->kind().toQualString()) &&
           filters_of(node->input(0)).value_or(kBlock) % kBlock != 0;
  });
#else
  return false;
#endif
}

/// The last steps, which traced and loaded modules share.
jit::Module optimized(const jit::Module& module) {
  jit::Module frozen = jit::freeze(module);
  return breaks_in_onednn(frozen) ? frozen : jit::optimize_for_inference(frozen);
}

std::vector<std::string> argument_names(const jit::Module& module) {
  std::vector<std::string> names;
  for (const c10::Argument& argument : module.get_method("forward").function().getSchema().arguments()) {
    names.push_back(argument.name());
  }
  names.erase(names.begin());  // self
  return names;
}

/// Maps values to the steps that make them.
using Makers = std::unordered_map<const jit::Value*, int32_t>;

/// Adds the steps whose values a node reads, directly or in its blocks.
void add_reads(const jit::Node& node, const Makers& makers, std::set<int32_t>& read) {
  const auto add = [&](const jit::Value* value) {
    if (const auto maker = makers.find(value); maker != makers.end()) read.insert(maker->second);
  };
  for (const jit::Value* input : node.inputs()) add(input);
  for (const jit::Block* block : node.blocks()) {
    for (const jit::Node* inner : block->nodes()) add_reads(*inner, makers, read);
    for (const jit::Value* output : block->outputs()) add(output);
  }
}

}  // namespace

struct Script::State {
  jit::Module module;
  std::vector<std::string> input_names;
  /// Counted before freezing, because packed weights do not report their size.
  int64_t weight_bytes;
};

Script::Script(std::unique_ptr<State> state) : state_(std::move(state)) {}
Script::~Script() = default;

std::unique_ptr<Script> Script::trace(Program& program, const std::vector<at::Tensor>& inputs) {
  const at::NoGradGuard no_grad;
  jit::Module module("hone.Traced");
  // Freezing reads whether the module is in training mode.
  module.register_attribute("training", c10::BoolType::get(), false);
  const auto forward = [&](jit::Stack stack) -> jit::Stack {
    std::vector<at::Tensor> tensors;
    for (const c10::IValue& value : stack) tensors.push_back(value.toTensor());
    std::vector<c10::IValue> results;
    for (at::Tensor& result : program.run(std::move(tensors))) results.emplace_back(std::move(result));
    return {c10::ivalue::Tuple::create(std::move(results))};
  };
  const auto traced = jit::tracer::trace(
      jit::Stack(inputs.begin(), inputs.end()), forward, [](const at::Tensor&) { return std::string(); },
      /*strict=*/true,
      /*force_outplace=*/true, &module);
  const c10::QualifiedName name(*module.type()->name(), "forward");
  module.type()->addMethod(module._ivalue()->compilation_unit()->create_function(name, traced.first->graph));
  auto state =
      std::make_unique<State>(State{optimized(module), argument_names(module), program.weight_bytes()});
  return std::unique_ptr<Script>(new Script(std::move(state)));
}

std::unique_ptr<Script> Script::read(const std::filesystem::path& file, const Placement& placement) {
  const at::NoGradGuard no_grad;
  try {
    jit::Module module = jit::load(file.string());
    module.eval();
    module.to(placement.device);
    const at::ScalarType type = placement.scalar_type(at::kFloat);
    if (type != at::kFloat) module.to(type);
    if (!module.find_method("forward")) fail_bad_input("the TorchScript module has no method forward");
    auto state =
        std::make_unique<State>(State{optimized(module), argument_names(module), parameter_bytes(module)});
    return std::unique_ptr<Script>(new Script(std::move(state)));
  } catch (const Error& error) {
    throw error.within(file.string());
  } catch (const std::exception& error) {
    throw Error(ErrorKind::kBadInput, "not a TorchScript archive PyTorch can read: " + message_line(error),
                file.string());
  }
}

const std::vector<std::string>& Script::input_names() const { return state_->input_names; }

std::vector<at::Tensor> Script::run(const std::vector<at::Tensor>& inputs) {
  std::vector<at::Tensor> outputs;
  try {
    append_tensors(state_->module.forward({inputs.begin(), inputs.end()}), outputs);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(error_kind(error), "TorchScript says: " + message_line(error));
  }
  return outputs;
}

void Script::warm_up(const std::vector<at::Tensor>& inputs) {
  for (int i = 0; i < kWarmUpRuns; ++i) run(inputs);
}

int64_t Script::weight_bytes() const { return state_->weight_bytes; }

std::vector<StepInfo> Script::steps() const {
  std::vector<StepInfo> result;
  Makers makers;
  for (const jit::Node* node : state_->module.get_method("forward").graph()->nodes()) {
    if (node->kind() == c10::prim::Constant) continue;
    const std::string name = node->outputs().empty() ? "" : node->output(0)->debugName();
    StepInfo& info = result.emplace_back(StepInfo{name, node->kind().toQualString(), {}, "TorchScript"});
    std::set<int32_t> read;
    add_reads(*node, makers, read);
    info.predecessors.assign(read.begin(), read.end());
    for (const jit::Value* output : node->outputs()) makers[output] = static_cast<int32_t>(result.size()) - 1;
  }
  return result;
}

}  // namespace hone::backend::aten
