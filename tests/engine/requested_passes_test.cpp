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

graph::Graph stem() {
  test::GraphBuilder b;
  const auto x = b.input("x", {test::Dim::symbol("N"), 3, 12, 12});
  const auto relu = b.node("Relu", {b.conv(x, 3, 6)});
  return b.finish({b.node("MaxPool", {relu}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}})});
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

std::shared_ptr<Engine> build(const graph::Graph& graph, const Device& device) {
  BuildOptions options;
  options.threads = 1;
  options.optimization_level = 1;
  options.shapes["x"] = {{1, 3, 12, 12}, {2, 3, 12, 12}, {4, 3, 12, 12}};
  return build_engine(graph, device, options);
}

std::string operators(const Engine& engine) { return test::structure(*engine.graph); }

TEST(RequestedPasses, RunForTheDeviceThatAsksForThem) {
  FakeDevice device({}, false);
  EXPECT_EQ(operators(*build(stem(), device)), "FusedConv[relu] MaxPool");
  device.requested_passes = {"pool_fusion"};
  EXPECT_EQ(operators(*build(stem(), device)), "FusedConvMaxPool[relu]");
}

TEST(RequestedPasses, LeaveBatchesThatCanBeSplit) {
  FakeDevice device({}, false);
  device.requested_passes = {"pool_fusion", "squeeze_excite_fusion"};
  EXPECT_TRUE(splits_by_batch(*build(gated_stem(), device)->graph));
}

TEST(RequestedPasses, MakeWhatRunsAtEveryBatchAndIsSaved) {
  FakeDevice device({}, false);
  device.requested_passes = {"pool_fusion", "squeeze_excite_fusion"};
  const graph::Graph graph = gated_stem();
  ASSERT_EQ(operators(*build(graph, device)), "FusedConvMaxPool[relu] FusedSqueezeExcite");
  const auto path = std::filesystem::temp_directory_path() / fmt::format("hone_pooled_{}.hone", ::getpid());
  save_engine(*build(graph, device), device, path);
  const auto engine = load_engine(path);
  std::filesystem::remove(path);
  Context context(engine, device, 1);
  for (const int64_t batch : {1, 2, 4}) {
    const auto inputs = test::random_inputs(graph, 3, batch);
    EXPECT_LE(test::relative_error(context.run(inputs)[0], reference::run_graph(graph, inputs)[0]),
              test::rounding_tolerance(graph));
  }
}

}  // namespace
}  // namespace hone::engine
