// Builds small graphs in tests, one call a node, and fills constants and inputs with seeded numbers.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "graph/verify.hpp"

namespace hone::test {

using graph::Attribute;
using graph::Dim;
using graph::Dims;
using graph::DType;
using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::Tensor;
using graph::ValueId;
using tensor::Shape;

/// Uniform numbers in [low, high), the same for the same seed on every platform.
inline Tensor random_tensor(const Shape& shape, uint32_t seed, double low = -1, double high = 1) {
  std::mt19937 generator(seed);
  std::vector<float> elements(static_cast<size_t>(tensor::element_count(shape)));
  for (float& element : elements) {
    element = static_cast<float>(low + (high - low) * (static_cast<double>(generator()) / 4294967296.0));
  }
  return Tensor::of<float>(elements, shape);
}

using AttributeList = std::vector<std::pair<std::string, Attribute>>;

class GraphBuilder {
 public:
  /// A dimension given as a string is a symbol.
  ValueId input(const std::string& name, Dims dims, DType dtype = DType::kFloat32) {
    const ValueId id = graph_.add_value(name, {dtype, std::move(dims)});
    graph_.inputs.push_back(id);
    return id;
  }
  ValueId constant(Tensor tensor) { return graph_.add_constant(next_name("c"), std::move(tensor)); }
  ValueId random(const Shape& shape, double low = -1, double high = 1) {
    return constant(random_tensor(shape, ++seed_, low, high));
  }
  ValueId scalar(float value) { return constant(Tensor::scalar<float>(value)); }
  ValueId filled(const Shape& shape, float value) {
    return constant(Tensor::of<float>(
        std::vector<float>(static_cast<size_t>(tensor::element_count(shape)), value), shape));
  }
  ValueId ints(const std::vector<int64_t>& values) {
    return constant(Tensor::of<int64_t>(values, {static_cast<int64_t>(values.size())}));
  }
  /// A node with one output.
  ValueId node(const std::string& op, std::vector<ValueId> inputs, const AttributeList& attributes = {}) {
    return nodes(op, std::move(inputs), 1, attributes)[0];
  }
  std::vector<ValueId> nodes(const std::string& op, std::vector<ValueId> inputs, int outputs,
                             const AttributeList& attributes = {}) {
    Node node;
    node.name = next_name(op);
    node.op = op;
    node.inputs = std::move(inputs);
    for (const auto& [name, value] : attributes) node.attributes.set(name, value);
    for (int i = 0; i < outputs; ++i) node.outputs.push_back(graph_.add_value(next_name("v")));
    graph::complete_node(node);
    const std::vector<ValueId> results = node.outputs;
    graph_.add_node(std::move(node));
    graph::infer_types(graph_);
    return results;
  }
  /// The type inferred so far.
  const graph::TensorType& type(ValueId id) const { return graph_.value(id).type; }

  Graph finish(const std::vector<ValueId>& outputs) {
    graph_.outputs = outputs;
    graph::verify(graph_, "building");
    return graph_;
  }

  // Nodes that many tests need.
  ValueId conv(ValueId x, int64_t in, int64_t out, int64_t kernel = 3, int64_t group = 1) {
    const int64_t pad = kernel / 2;
    return node("Conv", {x, random({out, in / group, kernel, kernel}, -0.5, 0.5)},
                {{"group", group}, {"pads", std::vector<int64_t>{pad, pad, pad, pad}}});
  }
  ValueId batch_norm(ValueId x, int64_t channels) {
    return node("BatchNormalization", {x, random({channels}, 0.5, 1.5), random({channels}),
                                       random({channels}), random({channels}, 0.5, 2)});
  }

 private:
  std::string next_name(const std::string& stem) { return stem + std::to_string(++names_[stem]); }

  Graph graph_;
  std::map<std::string, int> names_;
  uint32_t seed_ = 0;
};

}  // namespace hone::test
