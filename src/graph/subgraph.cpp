// See subgraph.hpp.
#include "graph/subgraph.hpp"

#include <algorithm>

#include "graph/infer.hpp"

namespace hone::graph {
namespace {

/// Narrows the declared type of a subgraph's input by the type of the value passed to it.
void narrow(Value& value, const SubgraphInput& input) {
  const auto mismatch = [&] {
    fail_bad_input("subgraph input '{}' is declared as {} but given {}", value.name, value.type.text(),
                   input.type.text());
  };
  if (input.type.dtype != DType::kUndefined) {
    if (value.type.dtype != DType::kUndefined && value.type.dtype != input.type.dtype) mismatch();
    value.type.dtype = input.type.dtype;
  }
  value.data = input.data;
  if (input.constant != nullptr) value.constant = *input.constant;
  if (!input.type.ranked()) return;
  if (!value.type.ranked()) {
    value.type.dims = input.type.dims;
    return;
  }
  const Dims& given = *input.type.dims;
  if (given.size() != value.type.dims->size()) mismatch();
  for (size_t i = 0; i < given.size(); ++i) {
    Dim& dim = (*value.type.dims)[i];
    if (dim.known() && given[i].known() && !dim.same_as(given[i])) mismatch();
    if (!dim.known()) dim = given[i];
  }
}

/// Checks that there is a value for each input of the subgraph.
void check_count(const Graph& body, std::span<const SubgraphInput> inputs) {
  if (body.inputs.size() != inputs.size()) {
    fail_bad_input("subgraph '{}' has {} inputs, expected {}", body.name, body.inputs.size(), inputs.size());
  }
}

std::vector<TensorType> output_types(const Graph& body) {
  std::vector<TensorType> types;
  for (const ValueId output : body.outputs) types.push_back(body.value(output).type);
  return types;
}

/// Narrows the declared type by the given one, or replaces it if the two contradict each other.
void narrow_or_take(Value& value, const SubgraphInput& input) {
  const TensorType declared = value.type;
  try {
    narrow(value, input);
  } catch (const Error&) {
    value.type = input.type;
    if (value.type.dtype == DType::kUndefined) value.type.dtype = declared.dtype;
  }
}

/// Maps values of a subgraph to those of another graph.
class Inlined {
 public:
  Inlined(Graph& graph, const Graph& body, const std::string& prefix)
      : graph_(graph), body_(body), prefix_(prefix), of_(body.values.size(), kNoValue) {}

  void take(std::span<const ValueId> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) of(body_.inputs[i]) = inputs[i];
  }

  /// Lets the node that produces a result of the subgraph write `output` directly; false if no node produces
  /// it, or if its result is already another output.
  bool make(ValueId result, ValueId output) {
    const bool made = std::any_of(body_.nodes.begin(), body_.nodes.end(), [&](const Node& node) {
      return std::find(node.outputs.begin(), node.outputs.end(), result) != node.outputs.end();
    });
    if (!made || of(result) != kNoValue) return false;
    of(result) = output;
    return true;
  }

  ValueId operator()(ValueId id) {
    if (id == kNoValue) return kNoValue;
    if (of(id) == kNoValue) {
      const Value& value = body_.value(id);
      of(id) = graph_.add_value(prefix_ + value.name, value.type);
      graph_.value(of(id)).constant = value.constant;
    }
    return of(id);
  }

 private:
  ValueId& of(ValueId id) { return of_[static_cast<size_t>(id)]; }

  Graph& graph_;
  const Graph& body_;
  const std::string& prefix_;
  std::vector<ValueId> of_;
};

}  // namespace

Graph typed_subgraph(const Graph& body, std::span<const SubgraphInput> inputs) {
  check_count(body, inputs);
  Graph copy = body;
  for (size_t i = 0; i < inputs.size(); ++i) narrow(copy.value(copy.inputs[i]), inputs[i]);
  infer_types(copy);
  return copy;
}

std::vector<TensorType> infer_subgraph(const Graph& body, std::span<const SubgraphInput> inputs) {
  return output_types(typed_subgraph(body, inputs));
}

std::vector<TensorType> infer_branch(const Graph& body, std::span<const SubgraphInput> inputs) {
  check_count(body, inputs);
  Graph copy = body;
  for (size_t i = 0; i < inputs.size(); ++i) narrow_or_take(copy.value(copy.inputs[i]), inputs[i]);
  infer_types_that_fit(copy);
  return output_types(copy);
}

bool controls_subgraphs(const Node& node) { return node.attributes.has("num_captures"); }

std::vector<std::string> subgraph_attributes(const Node& node) {
  if (node.op == "If") return {"then_branch", "else_branch"};
  return {"body"};
}

std::vector<Node> inline_subgraph(Graph& graph, const Graph& body, std::span<const ValueId> inputs,
                                  std::span<const ValueId> outputs, const std::string& prefix) {
  if (body.inputs.size() != inputs.size() || outputs.size() > body.outputs.size())
    fail_internal("subgraph '{}' has other inputs and outputs than its node", body.name);
  Inlined value(graph, body, prefix);
  value.take(inputs);
  std::vector<std::pair<ValueId, ValueId>> copies;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] != kNoValue && !value.make(body.outputs[i], outputs[i]))
      copies.emplace_back(body.outputs[i], outputs[i]);
  }
  std::vector<Node> nodes;
  for (const Node& node : body.nodes) {
    Node& copy = nodes.emplace_back(node);
    copy.name = prefix + node.name;
    for (ValueId& id : copy.inputs) id = value(id);
    for (ValueId& id : copy.outputs) id = value(id);
  }
  for (const auto& [result, output] : copies) {
    Node& copy = nodes.emplace_back();
    copy.name = prefix + body.value(result).name;
    copy.op = "Identity";
    copy.inputs = {value(result)};
    copy.outputs = {output};
  }
  return nodes;
}

std::optional<bool> known_condition(const Graph& graph, const Node& node) {
  if (node.op != "If") return std::nullopt;
  const Value& value = graph.value(node.inputs[0]);
  if (value.constant && value.constant->bytes() != nullptr) {
    if (value.constant->dtype() != DType::kBool || value.constant->size() != 1) return std::nullopt;
    return value.constant->values<bool>()[0];
  }
  if (!value.data || value.data->size() != 1 || !value.data->front().known()) return std::nullopt;
  return value.data->front().value() != 0;
}

std::vector<Node> inline_branch(Graph& graph, const Node& node, bool condition, const std::string& which) {
  const char* const name = condition ? "then_branch" : "else_branch";
  // Keeps the body alive if the graph changes the node.
  const std::shared_ptr<Graph> branch = node.attributes.get<std::shared_ptr<Graph>>(name);
  const std::vector<ValueId> captures(node.inputs.begin() + 1, node.inputs.end());
  auto nodes = inline_subgraph(graph, *branch, captures, node.outputs,
                               fmt::format("{}{}/{}/", node.name, which, name));
  for (const Node& inner : nodes) infer_node(graph, inner);
  return nodes;
}

TensorType join(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype && a.dtype != DType::kUndefined && b.dtype != DType::kUndefined) {
    fail_bad_input("types {} and {} have no common element type", a.text(), b.text());
  }
  TensorType result{a.dtype == DType::kUndefined ? b.dtype : a.dtype, std::nullopt};
  if (!a.ranked() || !b.ranked() || a.dims->size() != b.dims->size()) return result;
  Dims dims(a.dims->size());
  for (size_t i = 0; i < dims.size(); ++i) {
    if ((*a.dims)[i].same_as((*b.dims)[i])) dims[i] = (*a.dims)[i];
  }
  result.dims = std::move(dims);
  return result;
}

tensor::Shape loop_scalar_shape(const Graph& body, size_t input) {
  if (input >= body.inputs.size()) return {};
  const auto& dims = body.value(body.inputs[input]).type.dims;
  return dims && dims->size() == 1 ? tensor::Shape{1} : tensor::Shape{};
}

size_t capture_count(const Attributes& attributes, size_t inputs) {
  const int64_t count = attributes.get_int("num_captures");
  if (count < 0 || static_cast<uint64_t>(count) > inputs) {
    fail_bad_input("attribute 'num_captures' is {}, outside [0, {}]", count, inputs);
  }
  return static_cast<size_t>(count);
}

}  // namespace hone::graph
