// Views through what only moves elements.
#include "graph/strided_view.hpp"

#include <gtest/gtest.h>

#include "graph/infer.hpp"
#include "graph/text/parser.hpp"
#include "reference/interpreter.hpp"
#include "support/graph_builder.hpp"

namespace hone::graph {
namespace {

/// The elements of output 0, read through its view of input 0; empty where that is no view of it.
std::vector<double> through_view(const Graph& graph, const Tensor& input) {
  const StridedView view = strided_view(graph, Links(graph), graph.outputs[0]);
  if (view.base != graph.inputs[0]) return {};
  const std::vector<double> elements = input.to_double();
  std::vector<double> seen;
  for (const int64_t offset : view.leading_offsets(view.dimensions.size()))
    seen.push_back(elements[static_cast<size_t>(offset)]);
  return seen;
}

void expect_view(const char* text) {
  const Graph graph = parse_graph(text);
  tensor::Shape shape;
  for (const Dim& dim : *graph.value(graph.inputs[0]).type.dims) shape.push_back(dim.value());
  const Tensor input = test::random_tensor(shape, 5, -2, 2);
  EXPECT_EQ(through_view(graph, input),
            reference::run_graph(graph, std::vector<Tensor>{input})[0].to_double())
      << text;
}

TEST(StridedView, IsWhatTheReferencePicks) {
  expect_view("graph (%x: float32[2, 3, 4]) -> (%y) { %y = Transpose(%x) {perm = [2, 0, 1]} }");
  expect_view("graph (%x: float32[2, 3, 4]) -> (%y) { %y = Transpose(%x) }");
  expect_view(R"(graph (%x: float32[2, 12]) -> (%y) {
    %s = const int64[4] [2, 2, 3, 2]
    %r = Reshape(%x, %s)
    %t = Transpose(%r) {perm = [2, 0, 1, 3]}
    %u = const int64[2] [3, -1]
    %y = Reshape(%t, %u)
  })");
  expect_view(R"(graph (%x: float32[3, 1, 4]) -> (%y) {
    %a = const int64[1] [1]
    %s = Squeeze(%x, %a)
    %b = const int64[2] [0, 2]
    %u = Unsqueeze(%s, %b)
    %e = const int64[4] [2, 3, 5, 4]
    %y = Expand(%u, %e)
  })");
  expect_view(R"(graph (%x: float32[6, 5]) -> (%y) {
    %n = const int64[2] [2, 4]
    %p, %q = Split(%x, %n)
    %b = const int64[2] [-3, 1]
    %e = const int64[2] [100, -1]
    %s = Slice(%q, %b, %e)
    %i = const int64[] -2
    %y = Gather(%s, %i)
  })");
}

TEST(StridedView, EndsWhereNoLoopsSayIt) {
  const Graph uneven = parse_graph(R"(graph (%x: float32[4, 6]) -> (%y) {
    %t = Transpose(%x)
    %s = const int64[2] [8, 3]
    %y = Reshape(%t, %s)
  })");
  const StridedView view = strided_view(uneven, Links(uneven), uneven.outputs[0]);
  EXPECT_EQ(view.base, uneven.outputs[0]);
  EXPECT_TRUE(view.nodes.empty());
  const Graph reversed = parse_graph(R"(graph (%x: float32[4]) -> (%y) {
    %b = const int64[1] [3]
    %e = const int64[1] [-9]
    %a = const int64[1] [0]
    %s = const int64[1] [-1]
    %y = Slice(%x, %b, %e, %a, %s)
  })");
  EXPECT_EQ(strided_view(reversed, Links(reversed), reversed.outputs[0]).base, reversed.outputs[0]);
}

TEST(StridedView, SeesEqualSymbolsAsEqualLengths) {
  const Graph graph = parse_graph(R"(graph (%x: float32[N, S, 24]) -> (%y) {
    %s = const int64[4] [0, 0, 3, 8]
    %r = Reshape(%x, %s)
    %y = Transpose(%r) {perm = [0, 2, 1, 3]}
  })");
  const StridedView view = strided_view(graph, Links(graph), graph.outputs[0]);
  EXPECT_EQ(view.base, graph.inputs[0]);
  EXPECT_EQ(view.nodes, (std::vector<int32_t>{0, 1}));
}

}  // namespace
}  // namespace hone::graph
