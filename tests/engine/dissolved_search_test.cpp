// A search of a network with a node that runs as its pieces: they are one candidate, with one time, and the
// engine says what each of them runs by.
#include "engine/description.hpp"
#include "engine/engine_file.hpp"
#include "engine/search/step_timer.hpp"
#include "engine/search/tactic_candidates.hpp"
#include "engine/tactic_search_fixture.hpp"

namespace hone::engine {
namespace {

using DissolvedSearch = TacticSearch;

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

/// No tactic of the CPU adds a bias to a product of variables.
graph::Graph biased_product() {
  GraphBuilder b;
  const auto product = b.node("MatMul", {b.input("x", {2, 24, 32}), b.input("y", {2, 32, 16})});
  return b.finish({b.node("Relu", {b.node("Add", {product, b.random({16})})})});
}

BuildOptions product_options(int level) {
  BuildOptions build = options(level);
  build.shapes = {{"x", {{2, 24, 32}, {2, 24, 32}, {2, 24, 32}}},
                  {"y", {{2, 32, 16}, {2, 32, 16}, {2, 32, 16}}}};
  return build;
}

/// Steps and their tactics.
std::map<std::string, std::string> tactics_of(const Engine& engine) {
  std::map<std::string, std::string> result;
  for (const auto& [key, plan] : engine.plans) result[key.text()] = plan.tactic.text();
  return result;
}

TEST_F(DissolvedSearch, PiecesAreTimedTogether) {
  const auto engine = build_engine(biased_product(), device::cpu::cpu_device(), product_options(1));
  ASSERT_THAT(engine->graph->nodes, SizeIs(1));
  EXPECT_EQ(engine->graph->nodes[0].op, "FusedMatMul");
  EXPECT_THAT(tactics_of(*engine),
              ElementsAre(Pair("0", "dissolved"), Pair("0/0", "onednn_matmul"), Pair("0/1", "chain")));
  const auto dissolved = records(*engine, "dissolved");
  ASSERT_THAT(dissolved, SizeIs(1));
  EXPECT_TRUE(dissolved[0].chosen);
  EXPECT_THAT(records(*engine, "reference"), SizeIs(0)) << "it does not count as taking the node";
  EXPECT_GT(dissolved[0].median_us, 0);
  ASSERT_THAT(records(*engine, "onednn_matmul"), SizeIs(1));
  EXPECT_EQ(records(*engine, "onednn_matmul")[0].refusal.text(), "a bias on a product of two variables");
  expect_right(biased_product(), engine, device::cpu::cpu_device());
}

TEST_F(DissolvedSearch, ASampleOfTheNodeIsTheSumOfItsPieces) {
  const auto engine = build_engine(biased_product(), device::cpu::cpu_device(), product_options(0));
  Context context(engine, device::cpu::cpu_device(), 1);
  StepTimer timer(*context.execution(std::vector<Shape>{{2, 24, 32}, {2, 32, 16}}));
  const auto inputs = test::random_inputs(biased_product(), 7, 1);
  for (int i = 0; i < 3; ++i) timer.sample(inputs);
  ASSERT_THAT(timer.node_times(0), SizeIs(3));
  for (size_t i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(timer.node_times(0)[i], timer.total_times()[i]);
}

TEST_F(DissolvedSearch, TheCacheKnowsIt) {
  BuildOptions build = product_options(3);
  build.cache_folder = folder_;
  const auto first = build_engine(biased_product(), device::cpu::cpu_device(), build);
  build.cached_only = true;
  const auto second = build_engine(biased_product(), device::cpu::cpu_device(), build);
  EXPECT_EQ(second->plans, first->plans);
}

TEST_F(DissolvedSearch, AFileKeepsThePieces) {
  const auto path = folder_ / "dissolved.hone";
  const auto engine = build_engine(biased_product(), device::cpu::cpu_device(), product_options(1));
  save_engine(*engine, device::cpu::cpu_device(), path);
  const auto loaded = load_engine(path);
  EXPECT_EQ(loaded->plans, engine->plans);
  expect_right(biased_product(), loaded, device::cpu::cpu_device());
}

TEST_F(DissolvedSearch, ADescriptionShowsThePieces) {
  const auto engine = build_engine(biased_product(), device::cpu::cpu_device(), product_options(1));
  LoadedEngine loaded(engine, device::cpu::cpu_device(), 1);
  const Description description = describe(loaded, tuned_shapes(*engine));
  ASSERT_THAT(description.steps, SizeIs(2));
  const std::string& whole = engine->graph->nodes[0].name;
  EXPECT_EQ(description.steps[0].name, whole + " [1/2]");
  EXPECT_EQ(description.steps[0].kind, "MatMul");
  EXPECT_EQ(description.steps[1].kind, "FusedElementwise");
  EXPECT_THAT(description.steps[1].post_ops, ElementsAre("add", "relu"));
  EXPECT_THAT(description.steps[1].predecessors, ElementsAre(0));
  for (const StepDescription& step : description.steps) {
    EXPECT_EQ(step.piece_of, "FusedMatMul");
    EXPECT_THAT(step.whole_rivals, SizeIs(5)) << "the choice, and four refusals";
  }
  EXPECT_DOUBLE_EQ(description.flops, 2.0 * 2 * 24 * 32 * 16 + 2 * 2 * 24 * 16);
}

/// Without a search the program says itself what the tactics answered.
TEST_F(DissolvedSearch, APieceSaysWhyTheWholeDoesNotRun) {
  const auto engine = build_engine(biased_product(), device::cpu::cpu_device(), product_options(0));
  LoadedEngine loaded(engine, device::cpu::cpu_device(), 1);
  const Description description = describe(loaded, tuned_shapes(*engine));
  ASSERT_THAT(description.steps, SizeIs(2));
  for (const StepDescription& step : description.steps)
    EXPECT_THAT(step.whole_refusals,
                ElementsAre("onednn_inner_product: the second operand is not constant",
                            "onednn_inner_product_then_gelu: the second operand is not constant",
                            "onednn_matmul: a bias on a product of two variables",
                            ::testing::StartsWith("tiled_matrix: ")));
  const Json json = description_json(*engine, description);
  EXPECT_EQ(json["steps"][0]["piece_of"], "FusedMatMul");
  EXPECT_EQ(json["steps"][0]["whole_refusals"].size(), 4u);
}

/// The CPU's first tactic that accepts, under a name of its own.
Tactic renamed(std::string name) {
  return {.name = std::move(name), .make = [](const StepRequest& request, WeightStore& weights) {
            Offer offer;
            for (const Tactic* tactic : device::cpu::cpu_device().tactics(request.node)) {
              offer = tactic->offer(request, weights);
              if (!offer.refusal) break;
            }
            return offer;
          }};
}

/// Takes a product with its activation whole, and each for itself; chains by two tactics.
class Fusing final : public FakeDevice {
 public:
  Fusing() : FakeDevice({}, false) {}
  std::vector<const Tactic*> tactics(const graph::Node& node) const override {
    if (node.op == "FusedElementwise") return {&lame_, &swift_};
    if (node.op.starts_with("Fused")) return {&whole_};
    return FakeDevice::tactics(node);
  }

 private:
  Tactic whole_ = renamed("whole");
  Tactic lame_ = renamed("lame");
  Tactic swift_ = renamed("swift");
};

graph::Graph layer() {
  GraphBuilder b;
  const auto sum = b.node("Gemm", {b.input("x", {4, 24}), b.random({24, 16}), b.random({16})});
  return b.finish({b.node("Relu", {sum})});
}

BuildOptions layer_options(int level) {
  BuildOptions build = options(level);
  build.shapes = {{"x", {{4, 24}, {4, 24}, {4, 24}}}};
  return build;
}

TEST_F(DissolvedSearch, AFusionThatMakesANodeSlowerIsDissolved) {
  for (const auto& [whole_us, dissolves] : {std::pair(500.0, true), std::pair(20.0, false)}) {
    Fusing device;
    device.times_us = {{"whole", whole_us}, {"lame", 80}, {"swift", 30}};
    const auto engine = build_engine(layer(), device, layer_options(1));
    ASSERT_THAT(engine->graph->nodes, SizeIs(1));
    ASSERT_TRUE(engine->graph->nodes[0].op.starts_with("Fused")) << engine->graph->nodes[0].op;
    const auto dissolved = records(*engine, "dissolved");
    ASSERT_THAT(dissolved, SizeIs(1)) << "it is always a candidate";
    EXPECT_EQ(dissolved[0].chosen, dissolves);
    EXPECT_EQ(dissolved[0].median_us, 81) << "its pieces together, by the device's favourites";
    EXPECT_EQ(records(*engine, "whole").at(0).chosen, !dissolves);
    EXPECT_EQ(planned_tactic(*engine, {0, {}}), dissolves ? "dissolved" : "whole");
    EXPECT_EQ(planned_tactic(*engine, {0, {1}}), dissolves ? "swift" : "") << "pieces are searched as well";
    EXPECT_THAT(records(*engine, "swift"), SizeIs(dissolves ? 1 : 0));
    expect_right(layer(), engine, device);
  }
}

TEST_F(DissolvedSearch, TheCacheKnowsWhatPiecesRunBy) {
  Fusing device;
  device.times_us = {{"whole", 500}, {"lame", 80}, {"swift", 30}};
  BuildOptions build = layer_options(1);
  build.cache_folder = folder_;
  const auto first = build_engine(layer(), device, build);
  build.cached_only = true;
  const auto second = build_engine(layer(), device, build);
  EXPECT_FALSE(second->tuned);
  EXPECT_EQ(second->plans, first->plans);
  EXPECT_EQ(second->log.size(), first->log.size());
}

TEST_F(DissolvedSearch, ADescriptionShowsBothSearches) {
  Fusing device;
  device.times_us = {{"whole", 500}, {"lame", 80}, {"swift", 30}};
  const auto engine = build_engine(layer(), device, layer_options(1));
  LoadedEngine loaded(engine, device, 1);
  const Description description = describe(loaded, tuned_shapes(*engine));
  ASSERT_THAT(description.steps, SizeIs(2));
  EXPECT_THAT(description.steps[1].whole_rivals, SizeIs(2));
  ASSERT_THAT(description.steps[1].rivals, SizeIs(2));
  for (const TacticRecord& record : description.steps[1].rivals)
    EXPECT_EQ(record.chosen, record.tactic == "swift");
}

TEST_F(DissolvedSearch, WhereThereIsNoTimeTheWholeStays) {
  Fusing device;
  device.times_us = {{"whole", 500}};
  BuildOptions build = layer_options(1);
  build.budget_seconds = 1e-9;
  const auto engine = build_engine(layer(), device, build);
  EXPECT_EQ(planned_tactic(*engine, {0, {}}), "whole");
  EXPECT_EQ(records(*engine, "dissolved").at(0).refusal.text(), kNoTimeLeft);
}

}  // namespace
}  // namespace hone::engine
