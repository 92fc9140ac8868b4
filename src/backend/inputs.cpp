// See inputs.hpp.
#include "backend/inputs.hpp"

#include "reference/interpreter.hpp"

namespace hone::backend {
namespace {

bool fits(const graph::TensorType& type, const tensor::Tensor& tensor) {
  if (type.dtype != tensor::DType::kUndefined && type.dtype != tensor.dtype()) return false;
  if (!type.ranked()) return true;
  if (type.dims->size() != tensor.shape().size()) return false;
  for (size_t i = 0; i < tensor.shape().size(); ++i) {
    const graph::Dim& dim = (*type.dims)[i];
    if (dim.known() && dim.value() != tensor.shape()[i]) return false;
  }
  return true;
}

}  // namespace

void check_inputs(const graph::Graph& graph, std::span<const tensor::Tensor> inputs) {
  if (inputs.size() != graph.inputs.size()) {
    fail_bad_input("{} inputs given, the model has {}", inputs.size(), graph.inputs.size());
  }
  std::vector<tensor::Shape> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const graph::Value& value = graph.value(graph.inputs[i]);
    shapes.push_back(inputs[i].shape());
    if (fits(value.type, inputs[i])) continue;
    fail_bad_input("input '{}' is {}[{}], the model expects {}", value.name,
                   tensor::dtype_name(inputs[i].dtype()), tensor::shape_text(inputs[i].shape()),
                   value.type.text());
  }
  if (const std::string conflict = reference::symbol_conflict(graph, shapes); !conflict.empty())
    fail_bad_input("{}", conflict);
}

std::map<std::string, tensor::Shape> shapes_by_name(const graph::Graph& graph,
                                                    std::span<const tensor::Tensor> inputs) {
  std::map<std::string, tensor::Shape> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    shapes[graph.value(graph.inputs[i]).name] = inputs[i].shape();
  }
  return shapes;
}

}  // namespace hone::backend
