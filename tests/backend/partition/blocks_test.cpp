// Blocks made of any labels: convex, in order, whole.
#include "backend/partition/blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/partition/partition_support.hpp"

namespace hone::backend::partition {
namespace {

TEST(Blocks, AreConvexAndHoldEachNodeOnceWhateverTheLabels) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Wiring wiring(test::random_wiring(seed, 20));
    for (const int backends : {1, 2, 3}) {
      const Labels labels = test::random_labels(seed, wiring.size(), backends);
      const Blocks blocks = make_blocks(wiring, labels);
      EXPECT_EQ(labels_of(wiring.size(), blocks), labels);
      const std::vector<int32_t> block = block_of_nodes(wiring.size(), blocks);
      size_t nodes = 0;
      for (const Block& one : blocks) nodes += one.nodes.size();
      EXPECT_EQ(nodes, wiring.size());
      for (size_t node = 0; node < wiring.size(); ++node) {
        for (const int32_t from : wiring.predecessors[node])
          EXPECT_LE(block[static_cast<size_t>(from)], block[node]) << "seed " << seed;
      }
    }
  }
}

/// a -> b -> d and a -> c -> d, where b is another backend's: a and d cannot be one block.
TEST(Blocks, ADiamondIsNotClosedAroundAnotherBackend) {
  test::GraphBuilder b;
  const auto x = b.input("x", {test::Dim(4)});
  const auto a = b.node("Tanh", {x});
  const auto left = b.node("Sigmoid", {a});
  const auto right = b.node("Relu", {a});
  const auto end = b.node("Add", {left, right});
  const Wiring wiring(b.finish({end}));
  const Blocks blocks = make_blocks(wiring, {0, 1, 0, 0});
  EXPECT_THAT(blocks, testing::ElementsAre(Block{0, {0, 2}}, Block{1, {1}}, Block{0, {3}}));
}

TEST(Blocks, BranchesOfOneBackendThatDoNotMeetAreOneBlock) {
  test::GraphBuilder b;
  const auto x = b.input("x", {test::Dim(4)});
  const auto y = b.node("Tanh", {x});
  const auto z = b.node("Relu", {x});
  const Wiring wiring(b.finish({y, z}));
  EXPECT_EQ(make_blocks(wiring, {0, 0}).size(), 1);
}

TEST(Blocks, ACycleHasNoOrder) {
  test::GraphBuilder b;
  const auto x = b.input("x", {test::Dim(4)});
  const auto y = b.node("Tanh", {x});
  const auto z = b.node("Relu", {y});
  const auto end = b.node("Sigmoid", {z});
  const Wiring wiring(b.finish({end}));
  const Blocks cycle = {{0, {0, 2}}, {1, {1}}};
  EXPECT_FALSE(run_order(wiring, cycle).has_value());
}

TEST(Wiring, CountsWhatComputesOrMoves) {
  test::GraphBuilder b;
  const auto x = b.input("x", {test::Dim(4), test::Dim(2)});
  const auto y = b.node("Reshape", {x, b.ints({8})});
  const auto z = b.node("Relu", {y});
  const Wiring wiring(b.finish({z}));
  EXPECT_EQ(wiring.count(std::vector<int32_t>{0, 1}), 1);
}

TEST(Fingerprint, IsOfTheStructureAndNotOfTheWeights) {
  const auto graph = [](double scale, const char* op) {
    test::GraphBuilder b;
    const auto x = b.input("x", {test::Dim(2), test::Dim(40)});
    const auto y = b.node("MatMul", {x, b.random({40, 30}, 0, scale)});
    return b.finish({b.node(op, {y})});
  };
  EXPECT_EQ(fingerprint(graph(1, "Relu")), fingerprint(graph(2, "Relu")));
  EXPECT_NE(fingerprint(graph(1, "Relu")), fingerprint(graph(1, "Tanh")));
}

}  // namespace
}  // namespace hone::backend::partition
