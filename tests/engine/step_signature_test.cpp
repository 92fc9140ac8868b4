// What tells steps apart for the timing cache.
#include "engine/step_signature.hpp"

#include <gtest/gtest.h>

#include "support/graph_builder.hpp"

namespace hone::engine {
namespace {

using test::GraphBuilder;

std::string signature(const graph::Graph& graph, size_t node) {
  return step_signature(graph, graph.nodes[node], Layout::kPlain, Precision::kFp16);
}

TEST(StepSignature, EqualStepsShareOne) {
  GraphBuilder b;
  const auto x = b.input("x", {1, 4, 8, 8});
  const auto graph = b.finish({b.node("Tanh", {b.node("Relu", {b.node("Relu", {x})})})});
  EXPECT_EQ(signature(graph, 0), signature(graph, 1));
  EXPECT_NE(signature(graph, 0), signature(graph, 2));
}

TEST(StepSignature, AResultThatLeavesTheGraphMakesAnotherStep) {
  // A tactic may write it as floats at once.
  GraphBuilder b;
  const auto x = b.input("x", {1, 4, 8, 8});
  const auto graph = b.finish({b.node("Relu", {b.node("Relu", {x})})});
  EXPECT_NE(signature(graph, 0), signature(graph, 1));
}

}  // namespace
}  // namespace hone::engine
