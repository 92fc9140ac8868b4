// See adapt.hpp.
#include "import/onnx/adapt.hpp"

#include <algorithm>
#include <iterator>

#include "graph/infer.hpp"
#include "graph/operator.hpp"

namespace hone::importer {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

namespace {

/// ONNX lets a model omit the name of any unused output; hone's operators allow that only for optional
/// outputs.
void name_required_outputs(graph::Graph& graph, Node& node) {
  const graph::OperatorDef* def = graph::find_operator(node.op);
  const size_t required = def == nullptr ? 0 : static_cast<size_t>(def->min_outputs);
  for (size_t i = 0; i < std::min(required, node.outputs.size()); ++i) {
    if (!node.has_output(i)) node.outputs[i] = graph.add_value(fmt::format("{}.output.{}", node.name, i));
  }
}

}  // namespace

void add_checked_node(graph::Graph& graph, Node node) {
  name_required_outputs(graph, node);
  graph::complete_node(node);
  const Node& added = graph.add_node(std::move(node));
  graph::infer_node(graph, added);
}

ValueId Rewrite::constant(std::string_view stem, graph::Tensor tensor) {
  return graph.add_constant(fmt::format("{}.{}.{}", node.name, stem, graph.values.size()), std::move(tensor));
}

ValueId Rewrite::ints(std::string_view stem, const std::vector<int64_t>& values) {
  return constant(stem, graph::Tensor::of<int64_t>(values, {static_cast<int64_t>(values.size())}));
}

Node Rewrite::derived(std::string op, std::vector<ValueId> inputs, graph::Attributes attributes) const {
  Node result;
  result.name = fmt::format("{}.{}.{}", node.name, op, graph.values.size());
  result.op = std::move(op);
  result.attributes = std::move(attributes);
  result.inputs = std::move(inputs);
  result.sources = node.sources;
  return result;
}

ValueId Rewrite::before(std::string op, std::vector<ValueId> inputs, graph::Attributes attributes) {
  Node added = derived(std::move(op), std::move(inputs), std::move(attributes));
  const ValueId output = graph.add_value(added.name);
  added.outputs = {output};
  add_checked_node(graph, std::move(added));
  return output;
}

void Rewrite::after(size_t output, std::string op, std::vector<ValueId> more, graph::Attributes attributes) {
  if (!node.has_output(output)) return;
  std::vector<ValueId> inputs = {graph.add_value(fmt::format("{}.{}", node.name, graph.values.size()))};
  inputs.insert(inputs.end(), more.begin(), more.end());
  Node added = derived(std::move(op), inputs, std::move(attributes));
  added.outputs = {std::exchange(node.outputs[output], inputs[0])};
  after_.insert(after_.begin(), std::move(added));
}

void Rewrite::set_input(size_t i, ValueId id) {
  if (node.inputs.size() <= i) node.inputs.resize(i + 1, kNoValue);
  node.inputs[i] = id;
}

void Rewrite::attribute_to_input(std::string_view attribute, size_t i) {
  const graph::Attribute* value = node.attributes.find(attribute);
  if (value == nullptr) return;
  if (const auto* list = std::get_if<std::vector<int64_t>>(value)) {
    set_input(i, ints(attribute, *list));
  } else if (const auto* number = std::get_if<int64_t>(value)) {
    set_input(i, ints(attribute, {*number}));
  } else {
    fail_bad_input("attribute '{}' is of type {}, expected ints", attribute,
                   graph::attribute_type_name(value->index()));
  }
  node.attributes.erase(attribute);
}

graph::DType Rewrite::dtype(size_t i) const {
  const auto dtype = node.has_input(i) ? graph.value(node.input(i)).type.dtype : graph::DType::kUndefined;
  if (dtype == graph::DType::kUndefined) fail_bad_input("the element type of input {} is not known", i);
  return dtype;
}

const graph::Dims* Rewrite::dims(size_t i) const {
  if (!node.has_input(i)) return nullptr;
  const auto& type = graph.value(node.input(i)).type;
  return type.ranked() ? &*type.dims : nullptr;
}

void Rewrite::finish() {
  // Before opset 6, nodes listed the inputs whose memory they may reuse.
  if (opset < 6) node.attributes.erase("consumed_inputs");
  for (const auto rules : {first_rules(), shape_rules(), reduction_rules(), image_rules(), layer_rules(),
                           control_rules(), type_rules()}) {
    for (const AdaptRule& rule : rules) {
      if (rule.op == node.op && opset < rule.below) rule.apply(*this);
    }
  }
  while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();
  add_checked_node(graph, std::move(node));
  for (Node& added : after_) add_checked_node(graph, std::move(added));
}

bool is_readable_below_7(std::string_view op, int opset) {
  struct Entry {
    std::string_view op;
    int since;
  };
  // Operators with readable forms older than opset 7, and the versions that introduced these forms.
  static constexpr Entry kEntries[] = {
      {"Abs", 1},
      {"Add", 1},
      {"And", 1},
      {"ArgMax", 1},
      {"ArgMin", 1},
      {"AveragePool", 1},
      {"BatchNormalization", 1},
      {"Cast", 1},
      {"Ceil", 1},
      {"Clip", 1},
      {"Concat", 1},
      {"Constant", 1},
      {"Conv", 1},
      {"ConvTranspose", 1},
      {"DepthToSpace", 1},
      {"Div", 1},
      {"Dropout", 1},
      {"Elu", 1},
      {"Equal", 1},
      {"Exp", 1},
      {"Flatten", 1},
      {"Floor", 1},
      {"GRU", 3},
      {"Gather", 1},
      {"Gemm", 1},
      {"GlobalAveragePool", 1},
      {"GlobalLpPool", 2},
      {"GlobalMaxPool", 1},
      {"Greater", 1},
      {"HardSigmoid", 1},
      {"Hardmax", 1},
      {"Identity", 1},
      {"If", 1},
      {"InstanceNormalization", 1},
      {"LRN", 1},
      {"LSTM", 1},
      {"LeakyRelu", 1},
      {"Less", 1},
      {"Log", 1},
      {"LogSoftmax", 1},
      {"Loop", 1},
      {"LpNormalization", 1},
      {"LpPool", 2},
      {"MatMul", 1},
      {"Max", 1},
      {"MaxPool", 1},
      {"MaxRoiPool", 1},
      {"Mean", 1},
      {"Min", 1},
      {"Mul", 1},
      {"Neg", 1},
      {"Not", 1},
      {"Or", 1},
      {"PRelu", 1},
      {"Pad", 1},
      {"Pow", 1},
      {"RNN", 1},
      {"Reciprocal", 1},
      {"ReduceL1", 1},
      {"ReduceL2", 1},
      {"ReduceLogSum", 1},
      {"ReduceLogSumExp", 1},
      {"ReduceMax", 1},
      {"ReduceMean", 1},
      {"ReduceMin", 1},
      {"ReduceProd", 1},
      {"ReduceSum", 1},
      {"ReduceSumSquare", 1},
      {"Relu", 1},
      {"Reshape", 1},
      {"Selu", 6},
      {"Shape", 1},
      {"Sigmoid", 1},
      {"Size", 1},
      {"Slice", 1},
      {"Softmax", 1},
      {"Softplus", 1},
      {"Softsign", 1},
      {"SpaceToDepth", 1},
      {"Split", 1},
      {"Sqrt", 1},
      {"Squeeze", 1},
      {"Sub", 1},
      {"Sum", 1},
      {"Tanh", 1},
      {"Tile", 6},
      {"TopK", 1},
      {"Transpose", 1},
      {"Unsqueeze", 1},
      {"Xor", 1},
  };
  return std::any_of(std::begin(kEntries), std::end(kEntries),
                     [&](const Entry& entry) { return entry.op == op && opset >= entry.since; });
}

}  // namespace hone::importer
