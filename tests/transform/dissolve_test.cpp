// The pieces of a fused node compute what the node does, wherever its chain is split.
#include "transform/dissolve.hpp"

#include <gtest/gtest.h>

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
  for (const Node& node : nodes) text += (text.empty() ? "" : " ") + node.op;
  return text;
}

TEST(Dissolve, PiecesComputeWhatTheNodeDoes) {
  for (const test::FusedForm& form : test::fused_forms()) {
    SCOPED_TRACE(form.name);
    const Node& whole = form.graph.nodes[0];
    if (is_pattern(whole)) {
      Graph graph = form.graph;
      std::vector<Node> pieces = pieces_of_pattern(graph, whole);
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
    if (is_pattern(whole) || whole.op == "FusedElementwise") continue;
    Graph graph = form.graph;
    plain.insert(split_chain(whole, 0, graph.add_value("between"))[0].op);
  }
  EXPECT_EQ(plain, (std::set<std::string>{"Conv", "Gemm", "MatMul"}));
}

TEST(Dissolve, PatternsBecomeTheNodesThatTheyWere) {
  std::map<std::string, std::string> pieces;
  for (const test::FusedForm& form : test::fused_forms()) {
    Graph graph = form.graph;
    if (is_pattern(graph.nodes[0])) pieces[form.name] = kinds(pieces_of_pattern(graph, form.graph.nodes[0]));
  }
  EXPECT_EQ(pieces["FusedConvMaxPool, mish"], "FusedConv MaxPool");
  EXPECT_EQ(pieces["FusedStem, mish"], "FusedConvMaxPool FusedConv");
  EXPECT_EQ(pieces["FusedConvGlobalPool, mish"], "FusedConv GlobalAveragePool");
  EXPECT_EQ(pieces["FusedSqueezeExcite, mish"], "GlobalAveragePool FusedConv FusedConv Mul");
  EXPECT_EQ(pieces["FusedBottleneck, mish"], "FusedConv FusedConv FusedConv");
  EXPECT_EQ(pieces["FusedBottleneck with a projection, mish"], "FusedConv Conv FusedConv FusedConv");
  EXPECT_EQ(pieces["FusedConvSum, mish"], "Conv FusedConv");
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
    EXPECT_FALSE(is_pattern(node));
  }
}

}  // namespace
}  // namespace hone::transform
