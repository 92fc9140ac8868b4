// Operators that older readers lack become others with the same results, which the reference kernels tell.
#include "import/onnx/decompose.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "import/onnx/export.hpp"
#include "reference/interpreter.hpp"
#include "support/graph_builder.hpp"

namespace hone::importer {
namespace {

using test::GraphBuilder;
using test::Tensor;

const std::set<std::string_view> kAll = {"Gelu", "GroupNormalization", "HardSwish", "LayerNormalization",
                                         "Mish"};

/// The decomposed graph has none of the operators, and computes the same to float32's rounding of a few
/// operations.
graph::Graph expect_same(const graph::Graph& original, const Tensor& input) {
  graph::Graph decomposed = decompose(original, kAll);
  for (const graph::Node& node : decomposed.nodes) EXPECT_FALSE(kAll.contains(node.op)) << node.text();
  graph::verify(decomposed, "decomposing");
  const std::vector<Tensor> inputs = {input};
  const auto right = reference::run_graph(original, inputs).at(0).to_double();
  const auto found = reference::run_graph(decomposed, inputs).at(0).to_double();
  EXPECT_EQ(right.size(), found.size());
  for (size_t i = 0; i < right.size(); ++i) EXPECT_NEAR(right[i], found[i], 2e-6 * (1 + std::abs(right[i])));
  return decomposed;
}

TEST(Decompose, ActivationsComputeTheSame) {
  for (const auto& [op, attributes] : std::vector<std::pair<std::string, test::AttributeList>>{
           {"Gelu", {}}, {"Gelu", {{"approximate", std::string("tanh")}}}, {"HardSwish", {}}, {"Mish", {}}}) {
    GraphBuilder builder;
    const auto x = builder.input("x", {2, 17});
    const graph::Graph graph = builder.finish({builder.node(op, {x}, attributes)});
    EXPECT_LE(usual_opset(expect_same(graph, test::random_tensor({2, 17}, 1, -5, 5))), 17);
  }
}

TEST(Decompose, NormalizationsComputeTheSame) {
  GraphBuilder layers;
  const auto x = layers.input("x", {2, 3, 8});
  expect_same(
      layers.finish({layers.node("LayerNormalization", {x, layers.random({3, 8}), layers.random({3, 8})},
                                 {{"axis", int64_t{1}}})}),
      test::random_tensor({2, 3, 8}, 2));
  GraphBuilder groups;
  const auto y = groups.input("x", {2, 6, 3, 5});
  expect_same(groups.finish({groups.node("GroupNormalization", {y, groups.random({6}), groups.random({6})},
                                         {{"num_groups", int64_t{3}}})}),
              test::random_tensor({2, 6, 3, 5}, 3));
}

TEST(Decompose, KeepsAnOpenBatchAndWhatItIsNotAskedFor) {
  GraphBuilder builder;
  const auto x = builder.input("x", {test::Dim::symbol("batch"), 4, 6});
  const auto group = builder.node("GroupNormalization", {x, builder.random({4}), builder.random({4})},
                                  {{"num_groups", int64_t{2}}});
  const graph::Graph graph = builder.finish({builder.node("Gelu", {group})});
  expect_same(graph, test::random_tensor({5, 4, 6}, 4));
  const graph::Graph half = decompose(graph, {"Gelu"});
  const auto has = [&](std::string_view op) {
    return std::any_of(half.nodes.begin(), half.nodes.end(), [&](const auto& node) { return node.op == op; });
  };
  EXPECT_TRUE(has("GroupNormalization"));
  EXPECT_FALSE(has("Gelu"));
  EXPECT_EQ(half.value(half.outputs[0]).name, graph.value(graph.outputs[0]).name);
}

TEST(Decompose, TakesTheRangeOfAShapeOutOfAllOfIt) {
  for (const auto& [attributes, right] : std::vector<std::pair<test::AttributeList, std::vector<double>>>{
           {{}, {2, 3, 8}},
           {{{"start", int64_t{1}}, {"end", int64_t{2}}}, {3}},
           {{{"start", int64_t{-2}}}, {3, 8}},
           {{{"end", int64_t{-1}}}, {2, 3}},
           {{{"start", int64_t{2}}, {"end", int64_t{1}}}, {}}}) {
    GraphBuilder builder;
    const auto x = builder.input("x", {2, 3, test::Dim::symbol("length")});
    const graph::Graph graph = decompose(builder.finish({builder.node("Shape", {x}, attributes)}), {"Shape"});
    graph::verify(graph, "decomposing");
    for (const graph::Node& node : graph.nodes) {
      if (node.op != "Shape") continue;
      EXPECT_EQ(node.attributes.get_int("start"), 0) << node.text();
      EXPECT_FALSE(node.attributes.has("end")) << node.text();
    }
    const std::vector<Tensor> inputs = {test::random_tensor({2, 3, 8}, 5)};
    EXPECT_EQ(reference::run_graph(graph, inputs).at(0).to_double(), right);
  }
}

}  // namespace
}  // namespace hone::importer
