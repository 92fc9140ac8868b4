// See infer.hpp.
#include "graph/infer.hpp"

#include <utility>

#include "graph/operator.hpp"

namespace hone::graph {
namespace {

/// Narrows `known` by `found`; returns false if they contradict each other.
bool merge(TensorType& known, const TensorType& found) {
  if (found.dtype != DType::kUndefined) {
    if (known.dtype != DType::kUndefined && known.dtype != found.dtype) return false;
    known.dtype = found.dtype;
  }
  if (!found.ranked()) return true;
  if (!known.ranked()) {
    known.dims = found.dims;
    return true;
  }
  if (known.dims->size() != found.dims->size()) return false;
  for (size_t i = 0; i < found.dims->size(); ++i) {
    Dim& a = (*known.dims)[i];
    const Dim& b = (*found.dims)[i];
    if (a.known() && b.known() && a.value() != b.value()) return false;
    if (!a.known() && (b.known() || a.symbol().empty())) a = b;
  }
  return true;
}

/// Shape data are computed as int64 and never wrap around, so no other type is followed, with two exceptions:
/// int32, whose elements become unknown if they do not fit, and bool, with 0 and 1.
std::optional<Dims> exact_data(DType dtype, std::optional<Dims> data) {
  if (!data || dtype == DType::kInt64) return data;
  if (dtype == DType::kBool) {
    for (Dim& element : *data) element = element.known() ? Dim(element.value() != 0 ? 1 : 0) : Dim();
    return data;
  }
  if (dtype != DType::kInt32) return std::nullopt;
  for (Dim& element : *data) {
    if (element.known() && !std::in_range<int32_t>(element.value())) element = Dim();
  }
  return data;
}

/// Rules index shape data by the shape of the value, so both must have the same length. If the length of a
/// list is unknown, it is taken from the shape data.
bool fits(TensorType& type, const Dims& data) {
  if (!type.ranked() || type.dims->size() > 1) return false;
  const auto length = static_cast<int64_t>(data.size());
  if (type.dims->empty()) return length == 1;
  Dim& dim = type.dims->front();
  if (!dim.known()) dim = length;
  return dim.is(length);
}

}  // namespace

void infer_node(Graph& graph, const Node& node) {
  const OperatorDef* def = find_operator(node.op);
  if (def == nullptr)
    throw Error(ErrorKind::kBadInput, fmt::format("operator '{}' is not known", node.op), node.text());
  InferenceContext context(graph, node);
  try {
    def->infer(context);
  } catch (const Error& error) {
    if (error.where().empty() && error.kind() == ErrorKind::kBadInput) throw error.within(node.text());
    throw;
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.has_output(i)) continue;
    Value& value = graph.value(node.outputs[i]);
    auto& result = context.results()[i];
    if (!merge(value.type, result.type)) {
      throw Error(ErrorKind::kBadInput,
                  fmt::format("output {} is inferred as {} but declared as {}", i, result.type.text(),
                              value.type.text()),
                  node.text());
    }
    auto data = exact_data(value.type.dtype, std::move(result.data));
    if (data && fits(value.type, *data)) value.data = std::move(data);
  }
}

void infer_types(Graph& graph) {
  for (const Node& node : graph.nodes) infer_node(graph, node);
}

void infer_types_that_fit(Graph& graph) {
  for (const Node& node : graph.nodes) {
    try {
      infer_node(graph, node);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadInput) throw;
      for (const ValueId id : node.outputs) {
        if (id == kNoValue) continue;
        graph.value(id).type.dims.reset();
        graph.value(id).data.reset();
      }
    }
  }
}

Graph with_input_shapes(const Graph& graph, const std::map<std::string, tensor::Shape>& shapes) {
  Graph bound = graph;
  // All computed values are inferred again: types that were derived from the old shapes are no longer valid.
  std::vector<bool> fixed(bound.values.size(), false);
  for (const ValueId input : bound.inputs) fixed[static_cast<size_t>(input)] = true;
  for (size_t i = 0; i < bound.values.size(); ++i) {
    if (fixed[i] || bound.values[i].constant) continue;
    bound.values[i].type.dims.reset();
    bound.values[i].data.reset();
  }
  size_t used = 0;
  for (const ValueId input : bound.inputs) {
    Value& value = bound.value(input);
    const auto found = shapes.find(value.name);
    if (found == shapes.end()) continue;
    ++used;
    const TensorType wanted{value.type.dtype, Dims(found->second.begin(), found->second.end())};
    const std::string declared = value.type.text();
    if (!merge(value.type, wanted)) {
      fail_usage("input '{}' is {}, which shape {} does not fit", value.name, declared,
                 tensor::shape_text(found->second));
    }
  }
  if (used != shapes.size()) {
    for (const auto& [name, shape] : shapes) {
      bool known = false;
      for (const ValueId input : bound.inputs) known = known || bound.value(input).name == name;
      if (!known) fail_usage("the model has no input named '{}'", name);
    }
  }
  infer_types(bound);
  return bound;
}

}  // namespace hone::graph
