// Runs one node as a graph of its own: completed, inferred and executed by the reference kernels, with the
// inferred output types checked against what the kernel returned.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "reference/interpreter.hpp"

namespace hone::reference {

/// A node with these attributes and nothing else.
inline graph::Node node_of(std::string op,
                           const std::vector<std::pair<std::string, graph::Attribute>>& attributes = {}) {
  graph::Node node;
  node.op = std::move(op);
  for (const auto& [name, value] : attributes) node.attributes.set(name, value);
  return node;
}

/// A graph of one node; undefined tensors stand for absent optional inputs. With `constants` the shape rule
/// sees the values of all inputs but the first.
inline graph::Graph single_node_graph(graph::Node node, const std::vector<tensor::Tensor>& inputs,
                                      size_t outputs = 1, bool constants = true) {
  graph::Graph result;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const tensor::Tensor& tensor = inputs[i];
    const std::string name = "input" + std::to_string(i);
    if (!tensor.defined()) {
      node.inputs.push_back(graph::kNoValue);
    } else if (constants && i > 0) {
      node.inputs.push_back(result.add_constant(name, tensor));
    } else {
      const graph::Dims dims(tensor.shape().begin(), tensor.shape().end());
      node.inputs.push_back(result.add_value(name, {tensor.dtype(), dims}));
      result.inputs.push_back(node.inputs.back());
    }
  }
  for (size_t i = 0; i < outputs; ++i) {
    node.outputs.push_back(result.add_value("output" + std::to_string(i)));
    result.outputs.push_back(node.outputs.back());
  }
  node.name = "tested";
  graph::complete_node(node);
  result.add_node(std::move(node));
  graph::infer_types(result);
  return result;
}

inline std::vector<tensor::Tensor> run_single_node(graph::Node node,
                                                   const std::vector<tensor::Tensor>& inputs,
                                                   size_t outputs = 1) {
  const graph::Graph graph = single_node_graph(std::move(node), inputs, outputs);
  auto results = run_graph(graph, std::span(inputs).first(graph.inputs.size()));
  for (size_t i = 0; i < results.size(); ++i) {
    const graph::TensorType& type = graph.value(graph.outputs[i]).type;
    EXPECT_EQ(type.dtype, results[i].dtype()) << "output " << i;
    if (!type.ranked()) continue;
    EXPECT_EQ(type.dims->size(), results[i].shape().size()) << "output " << i;
    for (size_t k = 0; k < std::min(type.dims->size(), results[i].shape().size()); ++k) {
      const graph::Dim& dim = (*type.dims)[k];
      EXPECT_TRUE(!dim.known() || dim.value() == results[i].shape()[k]) << "output " << i << " axis " << k;
    }
  }
  return results;
}

/// The sentence with which building or running the node is refused; empty when it is not.
inline std::string refusal(graph::Node node, const std::vector<tensor::Tensor>& inputs, size_t outputs = 1) {
  try {
    const graph::Graph graph = single_node_graph(std::move(node), inputs, outputs);
    run_graph(graph, std::span(inputs).first(graph.inputs.size()));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput) << error.what();
    EXPECT_NE(error.where().find("tested"), std::string::npos) << error.what();
    return error.sentence();
  }
  return {};
}

/// A float tensor counting up from `first` in steps of `step`.
inline tensor::Tensor ramp(tensor::Shape shape, float first = 0, float step = 1) {
  tensor::Tensor result(tensor::DType::kFloat32, std::move(shape));
  float value = first;
  for (float& element : result.mutable_values<float>()) {
    element = value;
    value += step;
  }
  return result;
}

}  // namespace hone::reference
