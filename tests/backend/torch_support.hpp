// Runs graphs on the backends torch and torchscript and compares with the reference kernels.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/registry.hpp"
#include "reference/interpreter.hpp"
#include "support/equivalence.hpp"
#include "support/graph_builder.hpp"

namespace hone::test {

inline importer::Model model_of(Graph graph) {
  return {"test", {}, std::make_shared<const Graph>(std::move(graph))};
}

inline std::map<std::string, Shape> shapes_of(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::map<std::string, Shape> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) shapes[graph.value(graph.inputs[i]).name] = inputs[i].shape();
  return shapes;
}

/// Longest sum in the operator tests: 4 channels x 3 x 3 of a convolution, 64 of a matrix product. Both sides
/// round every product and every sum, in another order: at most 2 * 64 roundings of 2^-24 each.
inline constexpr double kOperatorTolerance = 128 * 0x1p-24;

/// Loads and runs; the error's text when it is refused.
inline std::pair<std::vector<Tensor>, std::string> run_on(const std::string& backend, const Graph& graph,
                                                          const std::vector<Tensor>& inputs,
                                                          backend::LoadOptions options = {}) {
  try {
    options.input_shapes = shapes_of(graph, inputs);
    const auto executable = backend::make_backend(backend)->load(model_of(graph), options);
    return {executable->run(inputs), ""};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

inline void expect_same_outputs(const std::string& backend, const Graph& graph,
                                const std::vector<Tensor>& inputs, double tolerance) {
  const auto expected = reference::run_graph(graph, inputs);
  const auto [actual, refusal] = run_on(backend, graph, inputs);
  ASSERT_EQ(refusal, "") << backend;
  ASSERT_EQ(actual.size(), expected.size()) << backend;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LE(relative_error(actual[i], expected[i]), tolerance)
        << backend << ": " << graph.nodes[0].text() << ", output " << i;
  }
}

/// Both backends give what the reference gives; `traced` is false for what a trace cannot hold.
inline void expect_covered(const Graph& graph, const std::vector<Tensor>& inputs, bool traced = true) {
  expect_same_outputs("torch", graph, inputs, kOperatorTolerance);
  if (traced) expect_same_outputs("torchscript", graph, inputs, kOperatorTolerance);
}

/// One node on a random input in [low, high), with further inputs made by `more`.
struct NodeCase {
  std::string op;
  Shape shape;
  AttributeList attributes = {};
  std::function<std::vector<ValueId>(GraphBuilder&)> more = {};
  int outputs = 1;
  double low = -2;
  double high = 2;
  DType dtype = DType::kFloat32;
};

inline void expect_covered(const NodeCase& test) {
  GraphBuilder b;
  std::vector<ValueId> inputs{b.input("x", Dims(test.shape.begin(), test.shape.end()), test.dtype)};
  if (test.more) {
    for (const ValueId id : test.more(b)) inputs.push_back(id);
  }
  const auto outputs = b.nodes(test.op, inputs, test.outputs, test.attributes);
  expect_covered(b.finish(outputs), {random_tensor(test.shape, 7, test.low, test.high).cast(test.dtype)});
}

inline std::function<std::vector<ValueId>(GraphBuilder&)> with_ints(std::vector<int64_t> values) {
  return [=](GraphBuilder& b) { return std::vector<ValueId>{b.ints(values)}; };
}

inline std::function<std::vector<ValueId>(GraphBuilder&)> with_random(std::vector<Shape> shapes) {
  return [=](GraphBuilder& b) {
    std::vector<ValueId> ids;
    for (const Shape& shape : shapes) ids.push_back(b.random(shape, 0.25, 1.25));
    return ids;
  };
}

using Integers = std::vector<int64_t>;

}  // namespace hone::test
