// If, Loop and Scan for any engine that runs their subgraphs, and their reference kernels, which run the
// subgraphs with the interpreter, as the kernel of Region does.
#include "reference/control.hpp"

#include <algorithm>

#include "base/out_of_memory.hpp"
#include "graph/subgraph.hpp"
#include "reference/interpreter.hpp"
#include "reference/kernel_list.hpp"
#include "reference/kernels/tensor_slices.hpp"
#include "system/memory.hpp"

namespace hone::reference {
namespace {

const graph::Graph& subgraph(const KernelContext& context, const char* attribute) {
  return *context.attributes().get<std::shared_ptr<graph::Graph>>(attribute);
}

bool read_condition(const Tensor& tensor) {
  if (tensor.dtype() != DType::kBool || tensor.size() != 1) {
    fail_bad_input("a condition is {}[{}], expected one bool", tensor::dtype_name(tensor.dtype()),
                   tensor::shape_text(tensor.shape()));
  }
  return tensor.values<bool>()[0];
}

/// Inputs [first, last) of the node.
std::vector<Tensor> inputs_between(const KernelContext& context, size_t first, size_t last) {
  std::vector<Tensor> result;
  for (size_t i = first; i < last; ++i) result.push_back(context.input(i));
  return result;
}

void append(std::vector<Tensor>& list, const std::vector<Tensor>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

/// An element of an output that is stacked over iterations, for the case of no iterations: its type is
/// inferred for these inputs, and its unknown dimensions are 0.
Tensor empty_element(const graph::Graph& body, const std::vector<Tensor>& inputs, size_t output) {
  std::vector<graph::SubgraphInput> known;
  for (const Tensor& input : inputs) {
    known.push_back({{input.dtype(), graph::Dims(input.shape().begin(), input.shape().end())}});
  }
  const graph::TensorType type = infer_subgraph(body, known).at(output);
  Shape shape;
  for (const graph::Dim& dim : type.dims.value_or(graph::Dims())) {
    shape.push_back(dim.known() ? dim.value() : 0);
  }
  return Tensor(type.dtype, std::move(shape));
}

/// The elements that the iterations produce for each stacked output, within the memory limit: iterations may
/// produce the same bytes again and again, so that only their stack is large.
class Stacks {
 public:
  explicit Stacks(size_t count) : elements_(count) {}

  void push(size_t stack, Tensor element) {
    bytes_ += static_cast<int64_t>(element.byte_size() + sizeof(Tensor));
    if (bytes_ > system::memory_limit()) {
      fail_bad_input("stacked outputs pass the limit of {} bytes", system::memory_limit());
    }
    elements_[stack].push_back(std::move(element));
  }
  const std::vector<Tensor>& elements(size_t stack) const { return elements_[stack]; }

 private:
  std::vector<std::vector<Tensor>> elements_;
  int64_t bytes_ = 0;
};

void run_if(KernelContext& context, const BodyRunner& run) {
  const bool condition = read_condition(context.input(0));
  auto results =
      run(condition ? "then_branch" : "else_branch", inputs_between(context, 1, context.inputs.size()));
  results.resize(context.outputs.size());
  context.outputs = std::move(results);
}

/// A condition that the body returns is used only if the node has a condition input (ONNX, Loop).
void run_loop(KernelContext& context, const BodyRunner& run) {
  const graph::Graph& body = subgraph(context, "body");
  const bool conditional = context.has_input(1);
  if (context.has_input(0) && context.input(0).size() != 1) {
    fail_bad_input("input 0 (trip count) holds {} elements, expected one", context.input(0).size());
  }
  const int64_t trips = context.has_input(0) ? context.input(0).to_int64()[0] : INT64_MAX;
  const size_t formal =
      context.inputs.size() - capture_count(context.attributes(), context.inputs.size() - 2);
  const auto captured = inputs_between(context, formal, context.inputs.size());
  std::vector<Tensor> states = inputs_between(context, 2, formal);
  const size_t stacked = body.outputs.size() - 1 - states.size();
  Stacks stacks(stacked);
  bool condition = !conditional || read_condition(context.input(1));
  const auto arguments = [&](int64_t i) {
    std::vector<Tensor> list{Tensor::of<int64_t>({i}, loop_scalar_shape(body, 0)),
                             Tensor::of<bool>({condition}, loop_scalar_shape(body, 1))};
    append(list, states);
    append(list, captured);
    return list;
  };
  for (int64_t i = 0; i < trips && condition; ++i) {
    const auto results = run("body", arguments(i));
    if (conditional) condition = read_condition(results[0]);
    for (size_t k = 0; k < states.size(); ++k) states[k] = results[k + 1];
    for (size_t k = 0; k < stacked; ++k) stacks.push(k, results[k + 1 + states.size()]);
  }
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    if (i < states.size()) {
      context.outputs[i] = states[i];
      continue;
    }
    const auto& elements = stacks.elements(i - states.size());
    context.outputs[i] = elements.empty() ? stack({}, 0, empty_element(body, arguments(0), i + 1))
                                          : stack(elements, 0, elements[0]);
  }
}

/// Entry k of an optional list attribute, 0 if it is absent.
int64_t option(const KernelContext& context, const char* name, size_t k) {
  const auto list = context.attributes().get_or<std::vector<int64_t>>(name, {});
  return list.empty() ? 0 : list.at(k);
}

/// The scan inputs of a Scan with their axes and directions.
struct ScanInputs {
  std::vector<Tensor> tensors;
  std::vector<int64_t> axes;
  std::vector<bool> reversed;
  int64_t length = 0;

  ScanInputs(const KernelContext& context, size_t first, size_t last)
      : tensors(inputs_between(context, first, last)) {
    for (size_t k = 0; k < tensors.size(); ++k) {
      const Tensor& tensor = tensors[k];
      axes.push_back(tensor::normalize_axis(option(context, "scan_input_axes", k), tensor.rank(),
                                            "attribute 'scan_input_axes'"));
      reversed.push_back(option(context, "scan_input_directions", k) == 1);
      const int64_t size = tensor.shape()[static_cast<size_t>(axes[k])];
      if (k > 0 && size != length) fail_bad_input("scan inputs have {} and {} elements", length, size);
      length = size;
    }
  }
  /// Uninitialised if there is nothing to scan.
  Tensor element(size_t k, int64_t i) const {
    if (length > 0) return slice(tensors[k], axes[k], reversed[k] ? length - 1 - i : i);
    Shape shape = tensors[k].shape();
    shape.erase(shape.begin() + axes[k]);
    return Tensor(tensors[k].dtype(), std::move(shape));
  }
};

void run_scan(KernelContext& context, const BodyRunner& run) {
  const graph::Graph& body = subgraph(context, "body");
  const size_t formal = context.inputs.size() - capture_count(context.attributes(), context.inputs.size());
  const auto scans = static_cast<size_t>(context.attributes().get_int("num_scan_inputs"));
  const ScanInputs inputs(context, formal - scans, formal);
  const auto captured = inputs_between(context, formal, context.inputs.size());
  std::vector<Tensor> states = inputs_between(context, 0, formal - scans);
  const size_t stacked = body.outputs.size() - states.size();
  Stacks stacks(stacked);
  const auto arguments = [&](int64_t i) {
    std::vector<Tensor> list = states;
    for (size_t k = 0; k < scans; ++k) list.push_back(inputs.element(k, i));
    append(list, captured);
    return list;
  };
  for (int64_t i = 0; i < inputs.length; ++i) {
    const auto results = run("body", arguments(i));
    for (size_t k = 0; k < states.size(); ++k) states[k] = results[k];
    for (size_t k = 0; k < stacked; ++k) stacks.push(k, results[k + states.size()]);
  }
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    if (i < states.size()) {
      context.outputs[i] = states[i];
      continue;
    }
    const size_t k = i - states.size();
    std::vector<Tensor> elements = stacks.elements(k);
    const Tensor like = elements.empty() ? empty_element(body, arguments(0), i) : elements[0];
    if (option(context, "scan_output_directions", k) == 1) std::reverse(elements.begin(), elements.end());
    const int64_t axis = tensor::normalize_axis(option(context, "scan_output_axes", k), like.rank() + 1,
                                                "attribute 'scan_output_axes'");
    context.outputs[i] = stack(elements, axis, like);
  }
}

void run_region(KernelContext& context) {
  const auto results =
      run_graph(subgraph(context, "body"), inputs_between(context, 0, context.inputs.size()));
  for (size_t i = 0; i < context.outputs.size(); ++i) context.outputs[i] = results[i];
}

using ControlFunction = void (*)(KernelContext&, const BodyRunner&);

template <ControlFunction function>
void interpret(KernelContext& context) {
  function(context, [&](const char* attribute, const std::vector<Tensor>& inputs) {
    return run_graph(subgraph(context, attribute), inputs);
  });
}

constexpr KernelEntry kKernels[] = {{"If", interpret<run_if>},
                                    {"Loop", interpret<run_loop>},
                                    {"Region", run_region},
                                    {"Scan", interpret<run_scan>}};

ControlFunction control_function(const graph::Node& node) {
  if (node.op == "If") return run_if;
  if (node.op == "Loop") return run_loop;
  if (node.op == "Scan") return run_scan;
  fail_internal("{} controls no subgraph", node.text());
}

}  // namespace

std::vector<Tensor> run_control(const graph::Node& node, std::vector<const Tensor*> inputs,
                                const BodyRunner& run) {
  KernelContext context{node, std::move(inputs), std::vector<Tensor>(node.outputs.size())};
  try {
    control_function(node)(context, run);
  } catch (const Error& error) {
    if (error.where().empty()) rethrow_within(error, node.text());
    throw;
  }
  return std::move(context.outputs);
}

std::span<const KernelEntry> control_kernels() { return kKernels; }

}  // namespace hone::reference
