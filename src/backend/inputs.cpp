// See inputs.hpp.
#include "backend/inputs.hpp"

#include "reference/interpreter.hpp"

namespace hone::backend {

void check_inputs(const graph::Graph& graph, std::span<const tensor::Tensor> inputs) {
  reference::check_inputs(graph, inputs);
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
