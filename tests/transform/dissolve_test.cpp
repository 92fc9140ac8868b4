// The pieces of a fused node compute what the node does, wherever its chain is split.
#include "transform/dissolve.hpp"

#include <gtest/gtest.h>

#include "graph/text/parser.hpp"
#include "support/equivalence.hpp"
#include "support/fused_forms.hpp"

namespace hone::transform {
namespace {

using graph::Graph;
using graph::Node;

Graph with_nodes(Graph graph, std::vector<Node> nodes) {
  graph.nodes = std::move(nodes);
  graph::infer_types(graph);
  graph::verify(graph, "dissolving");
  return graph;
}

std::string kinds(const std::vector<Node>& nodes) {
  std::string text;
  for (const Node& node : nodes) text += (text.empty() ? "" : " ") + graph::kind_of(node);
  return text;
}

TEST(Dissolve, PiecesComputeWhatTheNodeDoes) {
  for (const test::FusedForm& form : test::fused_forms()) {
    SCOPED_TRACE(form.name);
    const Node& whole = form.graph.nodes[0];
    if (graph::is_region(whole)) {
      Graph graph = form.graph;
      std::vector<Node> pieces = pieces_of_region(graph, whole);
      EXPECT_GT(pieces.size(), 1u);
      test::expect_equivalent(form.graph, with_nodes(graph, std::move(pieces)));
      continue;
    }
    const size_t ops = chained_ops(whole);
    ASSERT_GT(ops, 0u);
    for (const size_t inside : {size_t{0}, size_t{1}, ops / 2, ops - 1}) {
      if (inside >= ops || (inside == 0 && whole.op == "FusedElementwise")) continue;
      Graph graph = form.graph;
      const graph::ValueId between = graph.add_value("between");
      auto [base, rest] = split_chain(whole, inside, between);
      EXPECT_EQ(chained_ops(base), inside);
      EXPECT_EQ(chained_ops(rest), ops - inside);
      test::expect_equivalent(form.graph, with_nodes(graph, {std::move(base), std::move(rest)}));
    }
  }
}

TEST(Dissolve, ABaseWithoutOperationsIsThePlainOperator) {
  std::set<std::string> plain;
  for (const test::FusedForm& form : test::fused_forms()) {
    const Node& whole = form.graph.nodes[0];
    if (graph::is_region(whole) || whole.op == "FusedElementwise") continue;
    Graph graph = form.graph;
    plain.insert(split_chain(whole, 0, graph.add_value("between"))[0].op);
  }
  EXPECT_EQ(plain, (std::set<std::string>{"Conv", "Gemm", "MatMul"}));
}

TEST(Dissolve, RegionsBecomeTheNodesThatTheyWere) {
  std::map<std::string, std::string> pieces;
  for (const test::FusedForm& form : test::fused_forms()) {
    Graph graph = form.graph;
    if (graph::is_region(graph.nodes[0]))
      pieces[form.name] = kinds(pieces_of_region(graph, form.graph.nodes[0]));
  }
  EXPECT_EQ(pieces["conv_max_pool, mish"], "FusedConv MaxPool");
  EXPECT_EQ(pieces["stem, mish"], "conv_max_pool FusedConv");
  EXPECT_EQ(pieces["conv_global_pool, mish"], "FusedConv GlobalAveragePool");
  EXPECT_EQ(pieces["squeeze_excite, mish"], "GlobalAveragePool FusedConv FusedConv Mul");
  EXPECT_EQ(pieces["bottleneck, mish"], "FusedConv FusedConv FusedConv");
  EXPECT_EQ(pieces["bottleneck with a projection, mish"], "FusedConv Conv FusedConv FusedConv");
  EXPECT_EQ(pieces["conv_sum, mish"], "Conv FusedConv");
}

TEST(Dissolve, PiecesOfARegionHaveTypesAndNewNames) {
  Graph graph = graph::parse_graph(R"(
    graph (%x: float32[N, 3]) -> (%y, %z) {
      %y, %z = Region(%x) {
        kind = "pair",
        body = graph (%in) -> (%c, %b) { %a = Neg(%in) %b = Relu(%a) %c = Tanh(%a) }
      }
    })");
  const size_t values = graph.values.size();
  const std::vector<Node> pieces = pieces_of_region(graph, graph.nodes[0]);
  ASSERT_EQ(kinds(pieces), "Neg Relu Tanh");
  ASSERT_EQ(graph.values.size(), values + 1);
  EXPECT_EQ(graph.values.back().name, "y/0");
  EXPECT_EQ(graph.values.back().type.text(), "float32[Nx3]");
  EXPECT_EQ(pieces[1].outputs, (std::vector{graph.outputs[1]}));
  EXPECT_EQ(pieces[2].outputs, (std::vector{graph.outputs[0]}));
}

TEST(Dissolve, AGemmIsAProductAndItsBias) {
  test::GraphBuilder b;
  const auto x = b.input("x", {3, 4});
  const auto gemm = [&](const test::AttributeList& attributes) {
    return b.node("Gemm", {x, b.random({4, 4}), b.random({4})}, attributes);
  };
  Graph graph = b.finish({gemm({}), gemm({{"alpha", 2.0f}}), gemm({{"transB", int64_t{1}}})});
  EXPECT_EQ(chained_ops(graph.nodes[0]), 1u);
  EXPECT_EQ(chained_ops(graph.nodes[1]), 0u);
  EXPECT_EQ(chained_ops(graph.nodes[2]), 0u);
  const auto pieces = split_chain(graph.nodes[0], 0, graph.add_value("between"));
  EXPECT_EQ(kinds({pieces.begin(), pieces.end()}), "MatMul FusedElementwise");
  Graph dissolved = graph;
  dissolved.nodes.erase(dissolved.nodes.begin());
  dissolved.nodes.insert(dissolved.nodes.begin(), pieces.begin(), pieces.end());
  test::expect_equivalent(graph, with_nodes(dissolved, dissolved.nodes));
}

TEST(Dissolve, OtherNodesAreNotFused) {
  test::GraphBuilder b;
  const Graph graph = b.finish({b.node("Relu", {b.conv(b.input("x", {1, 4, 5, 5}), 4, 4)})});
  for (const Node& node : graph.nodes) {
    EXPECT_EQ(chained_ops(node), 0u);
    EXPECT_FALSE(graph::is_region(node));
  }
}

}  // namespace
}  // namespace hone::transform
