// Slices of tables by the length of an input: which become gathers, and what inference then knows.
#include "transform/bounded_slices.hpp"

#include <gtest/gtest.h>

#include "support/equivalence.hpp"

namespace hone::transform {
namespace {

using test::GraphBuilder;

/// Rows of a table, as many as x has, added to x.
graph::Graph embeddings(int64_t start, int64_t step) {
  GraphBuilder b;
  const auto x = b.input("x", {graph::Dim::symbol("batch"), graph::Dim::symbol("length"), 4});
  const auto ints = [&](int64_t value) { return b.constant(tensor::Tensor::of<int64_t>({value}, {1})); };
  const auto length = b.node("Shape", {x}, {{"start", int64_t{1}}, {"end", int64_t{2}}});
  const auto rows = b.node("Slice", {b.random({16, 4}), ints(start), length, ints(0), ints(step)});
  return b.finish({b.node("Add", {x, rows})});
}

std::string length_of(const graph::Graph& graph) {
  return (*graph.value(graph.outputs[0]).type.dims)[1].text();
}

TEST(BoundedSlices, FollowALengthThatTheTableHolds) {
  const graph::Graph original = embeddings(0, 1);
  EXPECT_EQ(length_of(original), "?");
  for (const int64_t largest : {3, 16}) {
    graph::Graph graph = original;
    EXPECT_EQ(bounded_slices(graph, {{"batch", 1}, {"length", largest}}).changes, 1);
    EXPECT_EQ(test::structure(graph), "Shape Range Gather Add");
    EXPECT_EQ(length_of(graph), "length");
    test::expect_equivalent(original, graph);
  }
}

TEST(BoundedSlices, StayWhereTheTableMayEndFirst) {
  for (const auto& largest : {std::map<std::string, int64_t>{{"length", 17}}, {{"batch", 4}}, {}}) {
    graph::Graph graph = embeddings(0, 1);
    EXPECT_EQ(bounded_slices(graph, largest).changes, 0);
  }
}

TEST(BoundedSlices, StayWhereTheyBeginElsewhereOrSkipRows) {
  for (const auto& [start, step] : {std::pair{1, 1}, {0, 2}, {-1, -1}}) {
    graph::Graph graph = embeddings(start, step);
    EXPECT_EQ(bounded_slices(graph, {{"length", 8}}).changes, 0);
  }
}

}  // namespace
}  // namespace hone::transform
