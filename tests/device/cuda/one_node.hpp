// A graph of one node whose first input is given at run time, as a tactic is asked for it.
#pragma once

#include "engine/kernel.hpp"
#include "reference/interpreter.hpp"
#include "support/graph_builder.hpp"

namespace hone::device::cuda::test_support {

using hone::test::GraphBuilder;
using hone::test::Shape;
using hone::test::Tensor;
using hone::test::ValueId;

struct OneNode {
  graph::Graph graph;
  Tensor input;

  /// The result of `ask` on a request whose input lies in this layout.
  template <class Ask>
  auto asked(const Ask& ask, engine::Layout layout = engine::Layout::kPlain) const {
    const graph::Node& node = graph.nodes[0];
    engine::StepRequest request{
        .graph = graph, .node = node, .inputs = descs(node.inputs), .outputs = descs(node.outputs)};
    request.inputs[0].layout = layout;
    return ask(request);
  }
  std::vector<Tensor> expected() const { return reference::run_graph(graph, std::vector<Tensor>{input}); }

 private:
  std::vector<engine::TensorDesc> descs(const std::vector<ValueId>& ids) const {
    std::vector<engine::TensorDesc> result;
    for (const ValueId id : ids) {
      engine::TensorDesc& desc = result.emplace_back();
      if (id == graph::kNoValue) continue;
      desc.dtype = graph.value(id).type.dtype;
      for (const graph::Dim& dim : *graph.value(id).type.dims) desc.shape.push_back(dim.value());
    }
    return result;
  }
};

inline OneNode one_node(GraphBuilder& builder, const Shape& shape, const std::string& op,
                        const std::vector<ValueId>& constants,
                        const hone::test::AttributeList& attributes = {}, int outputs = 1) {
  std::vector<ValueId> inputs{builder.input("x", graph::Dims(shape.begin(), shape.end()))};
  inputs.insert(inputs.end(), constants.begin(), constants.end());
  return {builder.finish(builder.nodes(op, inputs, outputs, attributes)),
          hone::test::random_tensor(shape, 7)};
}

}  // namespace hone::device::cuda::test_support
