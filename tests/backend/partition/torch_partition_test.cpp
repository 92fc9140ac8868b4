// A model that is shared out between hone and PyTorch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/partition/partition_support.hpp"
#include "backend/partition/partitioned_executable.hpp"
#include "backend/registry.hpp"
#include "backend/torch_support.hpp"

namespace hone::backend::partition {
namespace {

using test::Graph;
using test::GraphBuilder;
using test::ValueId;

TEST(TorchPartition, AnyLabelsComputeWhatTheGraphDoes) {
  for (uint32_t seed = 20; seed < 26; ++seed) {
    const Graph graph = test::random_wiring(seed, 14);
    const Wiring wiring(graph);
    const Labels labels = test::random_labels(seed, wiring.size(), 3);
    const auto inputs = test::random_inputs(graph, seed, 1);
    LoadOptions options;
    options.input_shapes = test::shapes_of(graph, inputs);
    PartitionedExecutable executable({"test",
                                      std::make_shared<const Graph>(graph),
                                      make_blocks(wiring, labels),
                                      {"torch", "torchscript", "reference"},
                                      std::nullopt,
                                      {}},
                                     options);
    const auto expected = reference::run_graph(graph, inputs);
    const auto actual = executable.run(inputs);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE(test::relative_error(actual[i], expected[i]), test::rounding_tolerance(graph))
          << "seed " << seed;
  }
}

TEST(TorchPartition, RefusesNodesOneByOneWithItsReason) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 8, 8});
  const ValueId y = b.node("Relu", {x});
  const ValueId z = b.node("NonMaxSuppression", {b.random({1, 3, 4}), b.random({1, 1, 3})});
  const ValueId folded = b.node("Shape", {y});
  const Graph graph = b.finish({y, z, folded});
  LoadOptions options;
  options.input_shapes = {{"x", {1, 2, 8, 8}}};
  const auto refusals = make_backend("torch")->refusals(test::model_of(graph), options);
  ASSERT_EQ(refusals.size(), 3);
  EXPECT_FALSE(refusals[0]);
  EXPECT_EQ(refusals[1].text(), "NonMaxSuppression has no lowering to ATen");
  EXPECT_FALSE(refusals[2]);
}

TEST(TorchPartition, ATraceRefusesWhatDataDecide) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4});
  const ValueId axes = b.input("axes", {1}, graph::DType::kInt64);
  const Graph graph = b.finish({b.node("ReduceSum", {x, axes}, {{"keepdims", int64_t{0}}})});
  LoadOptions options;
  options.input_shapes = {{"x", {4}}, {"axes", {1}}};
  EXPECT_FALSE(make_backend("torch")->refusals(test::model_of(graph), options)[0]);
  EXPECT_THAT(make_backend("torchscript")->refusals(test::model_of(graph), options)[0].text(),
              testing::HasSubstr("computed from data"));
}

TEST(TorchPartition, HandsOutputsOverByACopy) {
  const Handover handover = make_backend("torch")->handover("cpu");
  EXPECT_EQ(handover.input_copies, 0);
  EXPECT_EQ(handover.output_copies, 1);
  EXPECT_EQ(make_backend("hone")->handover("cpu").output_copies, 0);
}

}  // namespace
}  // namespace hone::backend::partition
