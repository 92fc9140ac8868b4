// Operator table entries of the control family: If, Loop and Scan. Their rules run shape inference inside
// the subgraphs. The type of a carried value is known only as far as no iteration changes it.
#include <algorithm>

#include "graph/operator_table.hpp"
#include "graph/operators/attribute_defs.hpp"
#include "graph/operators/type_rules.hpp"
#include "graph/subgraph.hpp"
#include "tensor/shape.hpp"

namespace hone::graph {
namespace {

using Types = std::vector<TensorType>;

SubgraphInput subgraph_input(const InferenceContext& context, size_t i) {
  return {context.input(i), context.data(i), context.constant(i)};
}

/// The last inputs of the node, which the subgraphs capture.
std::vector<SubgraphInput> captured_inputs(const InferenceContext& context, size_t captures) {
  std::vector<SubgraphInput> inputs;
  for (size_t i = context.input_count() - captures; i < context.input_count(); ++i) {
    context.require(context.has_input(i), "captured input {} is missing", i);
    inputs.push_back(subgraph_input(context, i));
  }
  return inputs;
}

/// Inference inside the subgraph of an attribute; errors name the node and the attribute.
template <class Infer>
Types infer_body(const InferenceContext& context, const char* attribute,
                 const std::vector<SubgraphInput>& inputs, Infer&& infer) {
  const auto& body = context.attributes().get<std::shared_ptr<Graph>>(attribute);
  context.require(body != nullptr, "attribute '{}' holds no graph", attribute);
  try {
    return infer(*body, inputs);
  } catch (const Error& error) {
    throw error.within(attribute).within(context.node().text());
  }
}

void infer_if(InferenceContext& context) {
  require_dtype(context, 0, {DType::kBool});
  const size_t captures = capture_count(context.attributes(), context.input_count() - 1);
  context.require(captures == context.input_count() - 1, "{} inputs, expected a condition and {} captures",
                  context.input_count(), captures);
  const auto inputs = captured_inputs(context, captures);
  // If shapes or a constant decide which branch runs, the other branch need not fit the shapes.
  if (const auto condition = context.known_data(0); condition && condition->size() == 1) {
    const Types types =
        infer_body(context, condition->front() != 0 ? "then_branch" : "else_branch", inputs, infer_subgraph);
    context.require(context.output_count() <= types.size(), "the branch has {} outputs, the node {}",
                    types.size(), context.output_count());
    for (size_t i = 0; i < context.output_count(); ++i) context.set_output(i, types[i].dtype, types[i].dims);
    return;
  }
  const Types then_types = infer_body(context, "then_branch", inputs, infer_branch);
  const Types else_types = infer_body(context, "else_branch", inputs, infer_branch);
  context.require(then_types.size() == else_types.size() && context.output_count() <= then_types.size(),
                  "the branches have {} and {} outputs, the node {}", then_types.size(), else_types.size(),
                  context.output_count());
  for (size_t i = 0; i < context.output_count(); ++i) {
    const TensorType type = join(then_types[i], else_types[i]);
    context.set_output(i, type.dtype, type.dims);
  }
}

/// Types of a body's first `states.size()` outputs and inputs, widened until an iteration changes nothing.
/// `make_inputs` completes the body's input list for given state types. Returns all output types of the
/// body; `states` then hold in every iteration. It ends because each round makes at least one more dimension
/// unknown.
template <class MakeInputs>
Types infer_iterated(const InferenceContext& context, size_t first_output, Types& states,
                     MakeInputs&& make_inputs) {
  while (true) {
    const Types outputs = infer_body(context, "body", make_inputs(states), infer_subgraph);
    context.require(outputs.size() >= first_output + states.size(), "the body has {} outputs, expected {}",
                    outputs.size(), first_output + states.size());
    bool changed = false;
    for (size_t i = 0; i < states.size(); ++i) {
      const TensorType widened = join(states[i], outputs[first_output + i]);
      changed = changed || widened.text() != states[i].text();
      states[i] = widened;
    }
    if (!changed) return outputs;
  }
}

/// The number of iterations if only the trip count determines it; otherwise unknown.
Dim trip_count(const InferenceContext& context) {
  const auto count = context.known_data(0);
  if (context.has_input(1) || !count || count->size() != 1) return {};
  return std::max<int64_t>(0, count->front());
}

SubgraphInput loop_scalar(const InferenceContext& context, size_t input, DType dtype) {
  const auto& body = context.attributes().get<std::shared_ptr<Graph>>("body");
  if (body == nullptr) return {};
  const tensor::Shape shape = loop_scalar_shape(*body, input);
  return {{dtype, Dims(shape.begin(), shape.end())}};
}

/// Types of the inputs that the body of a Loop gets if its carried values have these types.
std::vector<SubgraphInput> loop_inputs(const InferenceContext& context, const Types& states,
                                       size_t captures) {
  std::vector<SubgraphInput> inputs{loop_scalar(context, 0, DType::kInt64),
                                    loop_scalar(context, 1, DType::kBool)};
  for (const TensorType& type : states) inputs.push_back({type});
  const auto captured = captured_inputs(context, captures);
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  return inputs;
}

/// The types of a Loop's carried values in any iteration, and of all outputs of its body.
struct LoopTypes {
  Types states;
  Types outputs;
  size_t captures = 0;

  explicit LoopTypes(const InferenceContext& context) {
    context.require(context.input_count() >= 2, "{} inputs, expected at least 2", context.input_count());
    captures = capture_count(context.attributes(), context.input_count() - 2);
    for (size_t i = 2; i < context.input_count() - captures; ++i) states.push_back(context.input(i));
    outputs = infer_iterated(context, 1, states,
                             [&](const Types& types) { return loop_inputs(context, types, captures); });
  }
};

void infer_loop(InferenceContext& context) {
  require_dtype(context, 0, {DType::kInt64});
  require_dtype(context, 1, {DType::kBool});
  context.require(context.has_input(0) || context.has_input(1),
                  "neither a trip count nor a condition ends the loop");
  const LoopTypes types(context);
  const Types& states = types.states;
  const Types& outputs = types.outputs;
  context.require(context.output_count() < outputs.size(), "the body has {} outputs, the node needs {}",
                  outputs.size(), context.output_count() + 1);
  for (size_t i = 0; i < context.output_count(); ++i) {
    if (i < states.size()) {
      context.set_output(i, states[i].dtype, states[i].dims);
      continue;
    }
    auto dims = outputs[i + 1].dims;
    if (dims) dims->insert(dims->begin(), trip_count(context));
    context.set_output(i, outputs[i + 1].dtype, std::move(dims));
  }
}

/// Entry k of a list attribute with one entry per scan input or output; 0 if the list is absent.
int64_t scan_option(const InferenceContext& context, const char* name, size_t k, size_t count) {
  const auto list = context.attributes().get_or<std::vector<int64_t>>(name, {});
  if (list.empty()) return 0;
  context.require(list.size() == count, "attribute '{}' has {} entries, expected {}", name, list.size(),
                  count);
  return list[k];
}

int64_t scan_axis(const InferenceContext& context, const char* name, size_t k, size_t count, size_t rank) {
  const int64_t axis = scan_option(context, name, k, count);
  return tensor::normalize_axis(axis, static_cast<int64_t>(rank), name);
}

void check_directions(const InferenceContext& context, const char* name, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    const int64_t direction = scan_option(context, name, k, count);
    context.require(direction == 0 || direction == 1, "attribute '{}' holds {}, expected 0 or 1", name,
                    direction);
  }
}

/// The types of the scan inputs' elements that the body gets, and the length that the inputs share.
Types scan_elements(const InferenceContext& context, size_t first, size_t count, Dim& length) {
  check_directions(context, "scan_input_directions", count);
  Types elements;
  for (size_t k = 0; k < count; ++k) {
    TensorType type = context.input(first + k);
    if (type.ranked()) {
      const auto axis = scan_axis(context, "scan_input_axes", k, count, type.dims->size());
      const Dim size = (*type.dims)[static_cast<size_t>(axis)];
      context.require(!size.known() || !length.known() || size.same_as(length),
                      "scan inputs have {} and {} elements", length.text(), size.text());
      if (!length.known()) length = size;
      type.dims->erase(type.dims->begin() + axis);
    }
    elements.push_back(std::move(type));
  }
  return elements;
}

/// The types of a Scan's carried values in any iteration, of the scanned elements, and of all outputs of its
/// body.
struct ScanTypes {
  Types states;
  Types elements;
  Types outputs;
  Dim length;
  size_t captures = 0;

  explicit ScanTypes(const InferenceContext& context) {
    captures = capture_count(context.attributes(), context.input_count());
    const int64_t wanted = context.attributes().get_int("num_scan_inputs");
    const size_t formal = context.input_count() - captures;
    context.require(wanted >= 1 && static_cast<uint64_t>(wanted) <= formal,
                    "attribute 'num_scan_inputs' is {}, outside [1, {}]", wanted, formal);
    const auto scans = static_cast<size_t>(wanted);
    for (size_t i = 0; i < formal - scans; ++i) states.push_back(context.input(i));
    elements = scan_elements(context, states.size(), scans, length);
    outputs = infer_iterated(context, 0, states, [&](const Types& types) { return inputs(context, types); });
  }
  /// Types of the body's inputs if its carried values have these types.
  std::vector<SubgraphInput> inputs(const InferenceContext& context, const Types& carried) const {
    std::vector<SubgraphInput> list;
    for (const TensorType& type : carried) list.push_back({type});
    for (const TensorType& type : elements) list.push_back({type});
    const auto captured = captured_inputs(context, captures);
    list.insert(list.end(), captured.begin(), captured.end());
    return list;
  }
};

void infer_scan(InferenceContext& context) {
  const ScanTypes types(context);
  const Types& states = types.states;
  const Types& outputs = types.outputs;
  context.require(context.output_count() <= outputs.size(), "the body has {} outputs, the node {}",
                  outputs.size(), context.output_count());
  const size_t count = outputs.size() - states.size();
  check_directions(context, "scan_output_directions", count);
  for (size_t i = 0; i < context.output_count(); ++i) {
    if (i < states.size()) {
      context.set_output(i, states[i].dtype, states[i].dims);
      continue;
    }
    auto dims = outputs[i].dims;
    if (dims) {
      const size_t k = i - states.size();
      const int64_t axis = scan_axis(context, "scan_output_axes", k, count, dims->size() + 1);
      dims->insert(dims->begin() + axis, types.length);
    }
    context.set_output(i, outputs[i].dtype, std::move(dims));
  }
}

OperatorDef control(std::string name, int min_inputs, std::vector<AttributeDef> attributes,
                    void (*infer)(InferenceContext&)) {
  attributes.push_back(int_attribute("num_captures", 0));
  return {.name = std::move(name),
          .since_version = 21,
          .min_inputs = min_inputs,
          .max_inputs = OperatorDef::kVariadic,
          .max_outputs = OperatorDef::kVariadic,
          .attributes = std::move(attributes),
          .infer = infer};
}

}  // namespace

std::vector<SubgraphInput> subgraph_inputs(const Graph& graph, const Node& node) {
  const InferenceContext context(graph, node);
  if (node.op == "If")
    return captured_inputs(context, capture_count(context.attributes(), context.input_count() - 1));
  if (node.op == "Loop") {
    const LoopTypes types(context);
    return loop_inputs(context, types.states, types.captures);
  }
  if (node.op == "Scan") {
    const ScanTypes types(context);
    return types.inputs(context, types.states);
  }
  fail_internal("{} controls no subgraph", node.text());
}

void add_control_operators(std::vector<OperatorDef>& table) {
  table.push_back(control("If", 1,
                          {required_attribute("then_branch", AttributeKind::kGraph),
                           required_attribute("else_branch", AttributeKind::kGraph)},
                          infer_if));
  table.push_back(control("Loop", 0, {required_attribute("body", AttributeKind::kGraph)}, infer_loop));
  table.push_back(control("Scan", 1,
                          {required_attribute("body", AttributeKind::kGraph),
                           required_attribute("num_scan_inputs", AttributeKind::kInt),
                           optional_attribute("scan_input_axes", AttributeKind::kInts),
                           optional_attribute("scan_input_directions", AttributeKind::kInts),
                           optional_attribute("scan_output_axes", AttributeKind::kInts),
                           optional_attribute("scan_output_directions", AttributeKind::kInts)},
                          infer_scan));
}

}  // namespace hone::graph
