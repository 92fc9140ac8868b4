// See subgraph.hpp.
#include "graph/subgraph.hpp"

#include "graph/infer.hpp"

namespace hone::graph {
namespace {

/// Narrows the declared type of a subgraph's input by what is handed to it.
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

}  // namespace

Graph typed_subgraph(const Graph& body, std::span<const SubgraphInput> inputs) {
  if (body.inputs.size() != inputs.size()) {
    fail_bad_input("subgraph '{}' has {} inputs, expected {}", body.name, body.inputs.size(), inputs.size());
  }
  Graph copy = body;
  for (size_t i = 0; i < inputs.size(); ++i) narrow(copy.value(copy.inputs[i]), inputs[i]);
  infer_types(copy);
  return copy;
}

std::vector<TensorType> infer_subgraph(const Graph& body, std::span<const SubgraphInput> inputs) {
  const Graph copy = typed_subgraph(body, inputs);
  std::vector<TensorType> types;
  for (const ValueId output : copy.outputs) types.push_back(copy.value(output).type);
  return types;
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
