// Regions: what is read of them, and rules that are those of the body.
#include "graph/region.hpp"

#include <gtest/gtest.h>

#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "graph/text/parser.hpp"
#include "graph/text/printer.hpp"
#include "support/same_graph.hpp"

namespace hone::graph {
namespace {

/// A region of these operands and results, whose body is `body`.
std::string with_body(const std::string& body, const std::string& results = "%y",
                      const std::string& operands = "%x, %w") {
  return "graph (%x: float32[N, 8, 4, 4]) -> (" + results +
         ") {\n  %w = const float32[8, 8, 3, 3] fill(0.5)\n  " + results + " = Region(" + operands +
         ") {kind = \"any\", body = " + body + "}\n}";
}

/// A convolution and a pool of its result.
std::string pooled() {
  return with_body(
      "graph (%a, %b) -> (%pool) { %conv = FusedConv(%a, %b) {post_ops = [\"relu\"], post_alphas = [0], "
      "post_betas = [0]} %pool = GlobalAveragePool(%conv) }");
}

std::string refusal(const std::string& text) {
  try {
    parse_graph(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    return error.what();
  }
  return "";
}

double flops(const Graph& graph) {
  double sum = 0;
  for (const Node& node : graph.nodes) sum += node_cost(graph, node).value().flops;
  return sum;
}

TEST(Region, TypesFollowFromTheInputs) {
  const Graph graph = parse_graph(pooled());
  const Node& region = graph.nodes[0];
  EXPECT_EQ(kind_of(region), "any");
  EXPECT_EQ(graph.value(region.outputs[0]).type.text(), "float32[Nx8x1x1]");
  const Graph bound = with_input_shapes(graph, {{"x", {2, 8, 4, 4}}});
  EXPECT_EQ(bound.value(bound.nodes[0].outputs[0]).type.text(), "float32[2x8x1x1]");
  const Graph typed = typed_body(bound, bound.nodes[0]);
  EXPECT_EQ(typed.value(typed.nodes[0].outputs[0]).type.text(), "float32[2x8x2x2]");
  EXPECT_TRUE(typed.value(typed.inputs[1]).constant) << "constants stay known inside";
  const Graph& body = region_body(bound.nodes[0]);
  EXPECT_FALSE(body.value(body.nodes[0].outputs[0]).type.ranked()) << "binding leaves the body alone";
}

TEST(Region, TextIsReadAgain) {
  const Graph graph = parse_graph(pooled());
  const std::string text = print_graph(graph);
  EXPECT_NE(text.find("kind = \"any\",\n"), std::string::npos) << text;
  EXPECT_EQ(test::graph_difference(graph, parse_graph(text)), "");
  EXPECT_EQ(print_graph(parse_graph(text)), text);
}

TEST(Region, PartsHaveTheOperandsOfTheRegion) {
  const Graph graph = parse_graph(pooled());
  const Node& region = graph.nodes[0];
  const Node* conv = find_part(region, "conv");
  ASSERT_NE(conv, nullptr);
  const Node outer = outer_part(region, *conv);
  EXPECT_EQ(outer.inputs, region.inputs);
  EXPECT_EQ(outer.outputs, (std::vector{kNoValue})) << "it stays inside";
  const Node pool = outer_part(region, *find_part(region, "pool"));
  EXPECT_EQ(pool.inputs, (std::vector{kNoValue}));
  EXPECT_EQ(pool.outputs, region.outputs);
  EXPECT_EQ(find_part(region, "relu"), nullptr);
}

TEST(Region, CostsWhatItsNodesDo) {
  const Graph region = with_input_shapes(parse_graph(pooled()), {{"x", {2, 8, 4, 4}}});
  const Graph apart = parse_graph(R"(
    graph (%x: float32[2, 8, 4, 4]) -> (%y) {
      %w = const float32[8, 8, 3, 3] fill(0.5)
      %c = Conv(%x, %w)
      %r = Relu(%c)
      %y = GlobalAveragePool(%r)
    })");
  EXPECT_EQ(flops(region), flops(apart));
  const double bytes = 4.0 * (2 * 8 * 4 * 4 + 8 * 8 * 3 * 3 + 2 * 8);
  EXPECT_EQ(node_cost(region, region.nodes[0])->bytes, bytes) << "inputs and outputs only";
}

TEST(Region, KeepsTheBatchWhereEachNodeDoes) {
  const auto keeps = [](const std::string& body) {
    const Graph graph = parse_graph(
        "graph (%x: float32[N, 8, 4]) -> (%y) { %y = Region(%x) {kind = \"any\", body = " + body + "} }");
    return keeps_batch(graph, graph.nodes[0], 3);
  };
  EXPECT_TRUE(keeps("graph (%a) -> (%c) { %b = Relu(%a) %c = Mul(%a, %b) }"));
  EXPECT_FALSE(keeps("graph (%a) -> (%c) { %b = Softmax(%a) {axis = 0} %c = Relu(%b) }"));
  EXPECT_FALSE(
      keeps("graph (%a) -> (%c) { %b = Transpose(%a) {perm = [1, 0, 2]} "
            "%c = Transpose(%b) {perm = [1, 0, 2]} }"));
}

TEST(Region, BodiesThatNothingCanStandForAreRefused) {
  EXPECT_EQ(refusal(pooled()), "");
  const auto expect = [](const std::string& text, const std::string& reason) {
    EXPECT_NE(refusal(text).find(reason), std::string::npos) << refusal(text);
  };
  const std::string conv = "{ %conv = Conv(%a, %b) }";
  expect(with_body("graph (%a) -> (%r) { %r = Relu(%a) }"), "has 1 inputs, expected 2");
  expect(with_body("graph (%a, %b) -> (%conv) " + conv, "%y", "%x, _"), "input 1 is missing");
  expect(with_body("graph (%a, %b) -> (%conv) " + conv, "%y, %z"), "2 outputs, and the body makes 1");
  expect(with_body("graph (%a, %b) -> (%conv, %conv) " + conv, "%y, %z"), "stands there twice");
  expect(with_body("graph (%a, %b) -> (%a) " + conv), "'a' of the body is made by none of its nodes");
  expect(with_body("graph (%a, %b) -> (%r) { %c = const float32[1] [2] %r = Mul(%a, %c) }"),
         "the body holds constant 'c', which has to be an input of the region");
  expect(with_body("graph (%a, %b) -> (%r) { %r = Conv(%b, %a) }"), "node 'r' (Conv)");
  expect(with_body("graph (%a: float32[4], %b) -> (%r) { %r = Relu(%a) }"), "is declared as float32[4]");
  expect("graph (%x: float32[1]) -> (%y) { %y = Region(%x) {kind = \"any\"} }",
         "required attribute 'body' is missing");
}

}  // namespace
}  // namespace hone::graph
