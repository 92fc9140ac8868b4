// Inputs of a graph that the interpreter accepts.
#include "reference/interpreter.hpp"

#include <gtest/gtest.h>

#include "support/graph_builder.hpp"

namespace hone::reference {
namespace {

using graph::Dim;
using test::GraphBuilder;

std::string refusal(const graph::Graph& graph, const std::vector<tensor::Shape>& shapes) {
  std::vector<tensor::Tensor> inputs;
  for (const tensor::Shape& shape : shapes) inputs.push_back(test::random_tensor(shape, 1));
  try {
    check_inputs(graph, inputs);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    return error.what();
  }
}

TEST(CheckInputs, ASymbolHasOneSize) {
  GraphBuilder b;
  const auto x = b.input("x", {Dim::symbol("n"), 4});
  const auto y = b.input("y", {Dim::symbol("n"), Dim::symbol("m")});
  b.input("z", {Dim(), Dim()});
  const auto graph = b.finish({b.node("Relu", {x}), b.node("Relu", {y})});
  EXPECT_EQ(refusal(graph, {{3, 4}, {3, 5}, {7, 8}}), "");
  EXPECT_EQ(refusal(graph, {{3, 4}, {2, 5}, {7, 8}}), "dimension 'n' is 3 in input 'x' and 2 in input 'y'");
}

TEST(CheckInputs, ASymbolHasOneSizeInOneInputToo) {
  GraphBuilder b;
  const auto graph = b.finish({b.node("Relu", {b.input("x", {Dim::symbol("n"), Dim::symbol("n")})})});
  EXPECT_EQ(refusal(graph, {{3, 3}}), "");
  EXPECT_EQ(refusal(graph, {{3, 4}}), "dimension 'n' is 3 in input 'x' and 4 in input 'x'");
}

}  // namespace
}  // namespace hone::reference
