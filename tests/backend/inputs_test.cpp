// The inputs of a model that backends other than our own accept.
#include "backend/inputs.hpp"

#include <gtest/gtest.h>

#include "support/graph_builder.hpp"

namespace hone::test {
namespace {

std::string refusal(const graph::Graph& graph, const std::vector<tensor::Shape>& shapes) {
  std::vector<tensor::Tensor> inputs;
  for (const tensor::Shape& shape : shapes) inputs.push_back(random_tensor(shape, 1));
  try {
    backend::check_inputs(graph, inputs);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    return error.what();
  }
}

TEST(BackendInputs, HaveTheModelsShapesAndOneSizeForEachSymbol) {
  GraphBuilder b;
  const ValueId x = b.input("x", {graph::Dim::symbol("n"), 4});
  const ValueId y = b.input("y", {graph::Dim::symbol("n"), 4});
  const graph::Graph graph = b.finish({b.node("Add", {x, y})});
  EXPECT_EQ(refusal(graph, {{3, 4}, {3, 4}}), "");
  EXPECT_EQ(refusal(graph, {{3, 4}}), "1 inputs given, the model has 2");
  EXPECT_EQ(refusal(graph, {{3, 5}, {3, 4}}), "input 'x' is float32[3x5], the model expects float32[nx4]");
  EXPECT_EQ(refusal(graph, {{3, 4}, {2, 4}}), "dimension 'n' is 3 in input 'x' and 2 in input 'y'");
}

}  // namespace
}  // namespace hone::test
