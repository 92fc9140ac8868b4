// A device gets the passes that it asks for, and what they make runs, is saved and is loaded.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "engine/engine_file.hpp"
#include "engine/fake_device.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<std::string> kPasses = {
    "pool_fusion",        "bottleneck_fusion",      "squeeze_excite_fusion",
    "global_pool_fusion", "convolution_sum_fusion", "stem_fusion"};

graph::Graph stem() {
  test::GraphBuilder b;
  const auto x = b.input("x", {test::Dim::symbol("N"), 3, 12, 12});
  const auto relu = b.node("Relu", {b.conv(x, 3, 6)});
  return b.finish({b.node("MaxPool", {relu}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}})});
}

/// A stem as ResNet's, and the convolution behind it.
graph::Graph narrow_stem() {
  test::GraphBuilder b;
  const auto x = b.input("x", {test::Dim::symbol("N"), 3, 8, 8});
  const auto relu = b.node("Relu", {b.node("Conv", {x, b.random({64, 3, 7, 7}, -0.1, 0.1)},
                                           {{"strides", Ints{2, 2}}, {"pads", Ints(4, 3)}})});
  const auto pooled = b.node("MaxPool", {relu},
                             {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints(4, 1)}});
  return b.finish({b.node("Relu", {b.conv(pooled, 64, 64, 1)}), pooled});
}

/// A stem with squeeze and excitation behind it.
graph::Graph gated_stem() {
  test::GraphBuilder b;
  const auto x = b.input("x", {test::Dim::symbol("N"), 3, 12, 12});
  const auto relu = b.node("Relu", {b.conv(x, 3, 8)});
  const auto pooled = b.node("MaxPool", {relu}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}});
  const auto hidden = b.node("Relu", {b.conv(b.node("GlobalAveragePool", {pooled}), 8, 2, 1)});
  return b.finish({b.node("Mul", {pooled, b.node("Sigmoid", {b.conv(hidden, 2, 8, 1)})})});
}

/// The end of a residual network.
graph::Graph last_block() {
  test::GraphBuilder b;
  const auto x = b.input("x", {test::Dim::symbol("N"), 16, 7, 7});
  const auto relu = b.node("Relu", {b.node("Add", {b.conv(x, 16, 16), x})});
  return b.finish({b.node("GlobalAveragePool", {relu})});
}

/// The end of a residual block whose shortcut is projected.
graph::Graph projected_block() {
  test::GraphBuilder b;
  const auto x = b.input("x", {test::Dim::symbol("N"), 16, 7, 7});
  const auto z = b.input("z", {test::Dim::symbol("N"), 16, 7, 7});
  return b.finish({b.node("Relu", {b.node("Add", {b.conv(x, 16, 24), b.conv(z, 16, 24, 1)})})});
}

/// Bottlenecks: one whose shortcut is projected, and one with another output.
graph::Graph bottlenecks() {
  test::GraphBuilder b;
  const auto x = b.input("x", {test::Dim::symbol("N"), 64, 1, 48});
  const auto wide = [&](test::ValueId image, const auto& shortcut) {
    const auto middle = b.node("Relu", {b.conv(image, 64, 64)});
    const auto expanded = b.conv(middle, 64, 256, 1);
    return b.node("Relu", {b.node("Add", {expanded, shortcut()})});
  };
  const auto first = wide(x, [&] { return b.conv(x, 64, 256, 1); });
  const auto second = wide(b.conv(first, 256, 64, 1), [&] { return first; });
  return b.finish({b.node("Relu", {b.conv(second, 256, 128, 1)}), second});
}

std::shared_ptr<Engine> build(const graph::Graph& graph, const Device& device) {
  BuildOptions options;
  options.threads = 1;
  options.optimization_level = 1;
  const auto shape = [&](int64_t batch) {
    Shape shape = {batch};
    for (size_t i = 1; i < 4; ++i) shape.push_back((*graph.value(graph.inputs[0]).type.dims)[i].value());
    return shape;
  };
  options.shapes["x"] = {shape(1), shape(2), shape(4)};
  return build_engine(graph, device, options);
}

std::string operators(const Engine& engine) { return test::structure_with_bodies(*engine.graph); }

TEST(RequestedPasses, RunForTheDeviceThatAsksForThem) {
  FakeDevice device({}, false);
  EXPECT_EQ(operators(*build(stem(), device)), "FusedConv[relu] MaxPool");
  device.requested_passes = {"pool_fusion"};
  EXPECT_EQ(operators(*build(stem(), device)), "conv_max_pool(FusedConv[relu] MaxPool)");
}

TEST(RequestedPasses, LeaveBatchesThatCanBeSplit) {
  FakeDevice device({}, false);
  device.requested_passes = kPasses;
  EXPECT_TRUE(splits_by_batch(*build(gated_stem(), device)->graph));
  EXPECT_TRUE(splits_by_batch(*build(bottlenecks(), device)->graph));
  EXPECT_TRUE(splits_by_batch(*build(narrow_stem(), device)->graph));
  EXPECT_TRUE(splits_by_batch(*build(last_block(), device)->graph));
  EXPECT_TRUE(splits_by_batch(*build(projected_block(), device)->graph));
}

/// Where batches are not split, what follows from the only batch is computed beforehand.
TEST(RequestedPasses, KnowTheOnlyBatchOfAnEngine) {
  test::GraphBuilder b;
  const auto x = b.input("x", {test::Dim::symbol("N"), 4});
  const graph::Graph graph = b.finish({b.node("Expand", {b.random({1, 4}), b.node("Shape", {x})})});
  FakeDevice device({}, false);
  BuildOptions options;
  options.optimization_level = 0;
  options.shapes["x"] = {{3, 4}, {3, 4}, {3, 4}};
  EXPECT_EQ(operators(*build_engine(graph, device, options)), "Identity") << "of a constant";
  options.shapes["x"] = {{1, 4}, {3, 4}, {8, 4}};
  EXPECT_EQ(operators(*build_engine(graph, device, options)), "Shape Expand");
}

void expect_runs_and_is_saved(const graph::Graph& graph, const std::string& structure) {
  FakeDevice device({}, false);
  device.requested_passes = kPasses;
  ASSERT_EQ(operators(*build(graph, device)), structure);
  const auto path = std::filesystem::temp_directory_path() / fmt::format("hone_pooled_{}.hone", ::getpid());
  save_engine(*build(graph, device), device, path);
  const auto engine = load_engine(path);
  std::filesystem::remove(path);
  Context context(engine, device, 1);
  for (const int64_t batch : {1, 2, 4}) {
    const auto inputs = test::random_inputs(graph, 3, batch);
    const auto expected = reference::run_graph(graph, inputs);
    const auto actual = context.run(inputs);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE(test::relative_error(actual[i], expected[i]), test::rounding_tolerance(graph)) << i;
  }
}

TEST(RequestedPasses, MakeWhatRunsAtEveryBatchAndIsSaved) {
  expect_runs_and_is_saved(gated_stem(),
                           "conv_max_pool(FusedConv[relu] MaxPool) "
                           "squeeze_excite(GlobalAveragePool FusedConv[relu] FusedConv[sigmoid] Mul)");
  expect_runs_and_is_saved(bottlenecks(),
                           "bottleneck(FusedConv[relu] Conv FusedConv[add,relu] Conv) "
                           "bottleneck(FusedConv[relu] FusedConv[add,relu] FusedConv[relu])");
  expect_runs_and_is_saved(narrow_stem(), "stem(conv_max_pool(FusedConv[relu] MaxPool) FusedConv[relu])");
  expect_runs_and_is_saved(last_block(), "conv_global_pool(FusedConv[add,relu] GlobalAveragePool)");
  expect_runs_and_is_saved(projected_block(), "conv_sum(Conv FusedConv[add,relu])");
}

TEST(RequestedPasses, DependOnTheBatchThatTheEngineIsFor) {
  const FakeDevice device({}, false);
  build(stem(), device);  // 1 to 4
  EXPECT_EQ(device.asked_images, 0);
  BuildOptions fixed;
  fixed.shapes["x"] = {{2, 3, 12, 12}, {2, 3, 12, 12}, {2, 3, 12, 12}};
  build_engine(stem(), device, fixed);
  EXPECT_EQ(device.asked_images, 2);
  test::GraphBuilder b;
  const auto x = b.node("Relu", {b.input("x", {test::Dim::symbol("N"), 4})});
  BuildOptions options;
  options.default_batch = 3;
  build_engine(b.finish({x, b.node("Neg", {b.input("y", {test::Dim::symbol("N"), 2})})}), device, options);
  EXPECT_EQ(device.asked_images, 3);
  test::GraphBuilder mixed;
  const auto wide = mixed.node("Relu", {mixed.input("x", {5, 4})});
  build_engine(mixed.finish({wide, mixed.node("Neg", {mixed.input("y", {6, 2})})}), device, {});
  EXPECT_EQ(device.asked_images, 0);
}

}  // namespace
}  // namespace hone::engine
