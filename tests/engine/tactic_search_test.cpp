// The tactic search, on devices that wrap the CPU's and offer tactics which are wrong, refuse, or differ in
// their time by far more than noise.
#include "engine/tactic_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.hpp"
#include "base/json.hpp"
#include "engine/context.hpp"
#include "engine/engine_file.hpp"
#include "engine/fake_device.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using test::GraphBuilder;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

BuildOptions options(int level) {
  BuildOptions options;
  options.model = "fake";
  options.threads = 1;
  options.optimization_level = level;
  options.shapes["x"] = {{1, 4, 24, 24}, {1, 4, 24, 24}, {1, 4, 24, 24}};
  return options;
}

/// Enough for the median of one look at them to be robust against another process taking the processor.
constexpr int kLayers = 5;

/// The pools keep the activations from being fused with the convolutions; all Relu steps have one signature.
/// Most weights are positive: outputs that are all zero would be the same with any tactic.
graph::ValueId relu_layers(GraphBuilder& b, graph::ValueId x) {
  for (int i = 0; i < kLayers; ++i) {
    x = b.node("MaxPool", {b.node("Conv", {x, b.random({4, 4, 1, 1}, -0.2, 0.5)})},
               {{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
    x = b.node("Relu", {x});
  }
  return x;
}

graph::Graph relu_network() {
  GraphBuilder b;
  const auto x = relu_layers(b, b.input("x", {1, 4, 24, 24}));
  return b.finish({b.node("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}})});
}

/// A Relu behind a pool with each of these windows: images get smaller, so that no two are alike.
graph::Graph relus_behind_pools(const std::vector<int64_t>& windows) {
  GraphBuilder b;
  auto x = b.input("x", {1, 4, 24, 24});
  for (const int64_t window : windows) {
    x = b.node("MaxPool", {b.node("Conv", {x, b.random({4, 4, 1, 1}, -0.2, 0.5)})},
               {{"kernel_shape", std::vector<int64_t>{window, window}}});
    x = b.node("Relu", {x});
  }
  return b.finish({b.node("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}})});
}

/// Chosen tactic of every Relu step.
std::vector<std::string> relu_tactics(const Engine& engine) {
  std::vector<std::string> result;
  for (size_t i = 0; i < engine.tactics.size(); ++i) {
    if (engine.graph->nodes[i].op == "Relu") result.push_back(engine.tactics[i]);
  }
  return result;
}

/// The log's records of one tactic, or of one of its variants.
std::vector<TacticRecord> records(const Engine& engine, const std::string& tactic) {
  std::vector<TacticRecord> result;
  for (const TacticRecord& record : engine.log) {
    if (record.tactic == tactic) result.push_back(record);
  }
  return result;
}

void expect_right(const graph::Graph& graph, const std::shared_ptr<Engine>& engine, const Device& device) {
  const auto inputs = test::random_inputs(graph, 7, 1);
  const auto expected = reference::run_graph(graph, inputs);
  const auto actual = Context(engine, device, 1).run(inputs);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(test::relative_error(actual[i], expected[i]), test::rounding_tolerance(graph));
}

/// What a build finds that the cache lacks, as its error says it.
std::string lacks(const graph::Graph& graph, const Device& device, const BuildOptions& build) {
  try {
    build_engine(graph, device, build);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment) << error.what();
    return error.what();
  }
  return "";
}

/// The sentence, with its place.
template <class Action>
std::string bad_input(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput) << error.what();
    return error.what();
  }
  return "";
}

class TacticSearch : public ::testing::Test {
 protected:
  TacticSearch()
      : folder_(std::filesystem::temp_directory_path() /
                fmt::format("hone-search-{}-{}", ::getpid(),
                            ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~TacticSearch() override { std::filesystem::remove_all(folder_); }

  /// Lets every entry of the cache in the folder whose signature starts so choose another tactic, which has
  /// been timed by what the cache says. How many do.
  int choose_in_cache(const std::string& start, const std::string& tactic) const {
    int changed = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
      if (file.path().extension() != ".json") continue;
      Json json = Json::parse(base::read_file(file.path()));
      for (auto& [signature, entry] : json["steps"].items()) {
        if (!signature.starts_with(start)) continue;
        entry["times"][tactic] = {1.0, 1.0, 7};
        entry["chosen"] = tactic;
        ++changed;
      }
      base::write_file_atomic(file.path(), json.dump());
    }
    return changed;
  }

  std::filesystem::path folder_;
};

TEST_F(TacticSearch, AFastTacticThatIsWrongIsRefused) {
  const FakeTactic slow("slow", {.delay_us = 200});
  const FakeTactic wrong("wrong", {.scale = 1.25f});
  const FakeTactic quick("quick", {.delay_us = 20});
  const auto graph = relu_network();
  for (const bool overlaps : {false, true}) {
    const FakeDevice device({&slow, &wrong, &quick}, overlaps);
    const auto engine = build_engine(graph, device, options(3));
    EXPECT_THAT(relu_tactics(*engine), Each("quick"));
    const auto refused = records(*engine, "wrong");
    ASSERT_EQ(refused.size(), size_t{kLayers});
    for (const TacticRecord& record : refused) {
      EXPECT_EQ(record.refusal, "with it the network computes something else");
      EXPECT_FALSE(record.chosen);
    }
    for (const TacticRecord& record : records(*engine, "slow")) EXPECT_EQ(record.refusal, "");
    expect_right(graph, engine, device);
  }
}

TEST_F(TacticSearch, ATacticThatDoesNotFitIsRefused) {
  const FakeTactic large("large", {.does_not_fit = true});
  const FakeTactic small("small", {.delay_us = 200});
  for (const bool first : {true, false}) {
    const FakeDevice device(first ? std::vector{&large, &small} : std::vector{&small, &large}, true);
    const auto graph = relu_network();
    const auto engine = build_engine(graph, device, options(4));
    EXPECT_THAT(relu_tactics(*engine), Each(std::string("small")));
    ASSERT_FALSE(records(*engine, "large").empty());
    EXPECT_EQ(records(*engine, "large")[0].refusal, "the device has no room for it");
    expect_right(graph, engine, device);
  }
}

TEST_F(TacticSearch, NothingIsBuiltOfTacticsThatAllDoNotFit) {
  const FakeTactic large("large", {.does_not_fit = true});
  const FakeTactic larger("larger", {.does_not_fit = true});
  const FakeDevice device({&large, &larger}, false);
  EXPECT_THROW(build_engine(relu_network(), device, options(3)), Error);
}

TEST_F(TacticSearch, ProgramsThatFindRoomOnlyOneByOneAreTimedOneByOne) {
  const FakeTactic slow("slow", {.delay_us = 200});
  const FakeTactic quick("quick", {.delay_us = 20});
  for (const bool overlaps : {false, true}) {
    FakeDevice device({&slow, &quick}, overlaps);
    device.room = 1;
    const auto engine = build_engine(relu_network(), device, options(3));
    EXPECT_EQ(engine->not_timed, "");
    EXPECT_THAT(relu_tactics(*engine), Each("quick"));
    EXPECT_GT(records(*engine, "quick").at(0).samples, kLayers) << "more than one look";
    EXPECT_EQ(device.executors, 0);
  }
}

TEST_F(TacticSearch, ShapesThatPassTheLimitOfMemoryAreAnError) {
  FakeDevice device({}, false);
  device.room = 0;
  EXPECT_EQ(bad_input([&] { build_engine(relu_network(), device, options(3)); }),
            "the limit has no room for it");
  GraphBuilder b;
  const auto graph = b.finish({b.node("Relu", {b.input("x", {graph::Dim::symbol("batch"), 4, 24, 24})})});
  BuildOptions build = options(3);
  const Shape huge = {99'999'999'999, 4, 24, 24};
  build.shapes["x"] = {huge, huge, huge};
  EXPECT_THAT(
      bad_input([&] { build_engine(graph, device::cpu::cpu_device(), build); }),
      ::testing::AllOf(::testing::HasSubstr("input 'x': "), ::testing::HasSubstr("more than the limit of")));
}

TEST_F(TacticSearch, InputsThatCannotBeMadeUpAreToldInTheEngine) {
  GraphBuilder b;
  const auto x = b.input("x", {1, 4, 24, 24});
  const auto graph =
      b.finish({b.node("Gather", {relu_layers(b, x), b.input("indices", {2}, DType::kInt64)})});
  BuildOptions build = options(3);
  build.shapes["indices"] = {{2}, {2}, {2}};
  const auto engine = build_engine(graph, device::cpu::cpu_device(), build);
  EXPECT_THAT(engine->not_timed, ::testing::HasSubstr("Gather"));
  EXPECT_TRUE(engine->log.empty());
  const auto file = folder_ / "engine.hone";
  save_engine(*engine, device::cpu::cpu_device(), file);
  const auto loaded = load_engine(file);
  EXPECT_EQ(loaded->not_timed, engine->not_timed);
  tensor::Tensor zeros(DType::kInt64, {2});
  for (int64_t& index : zeros.mutable_values<int64_t>()) index = 0;
  EXPECT_EQ(Context(loaded, device::cpu::cpu_device(), 1)
                .run(std::vector{test::random_inputs(graph, 7, 1)[0], zeros})[0]
                .shape(),
            (Shape{2, 4, 24, 24}));
  EXPECT_EQ(build_engine(relu_network(), device::cpu::cpu_device(), options(3))->not_timed, "");
}

TEST_F(TacticSearch, AnImpossibleGroupOfTheCacheIsSearchedAnew) {
  GraphBuilder b;
  const auto x = relu_layers(b, b.input("x", {graph::Dim::symbol("batch"), 4, 24, 24}));
  const auto graph = b.finish({x});
  BuildOptions build = options(3);
  build.shapes["x"] = {{1, 4, 24, 24}, {4, 4, 24, 24}, {4, 4, 24, 24}};
  build.cache_folder = folder_;
  const auto first = build_engine(graph, device::cpu::cpu_device(), build);
  for (const char* group : {"x", "1x", "5", "-1"}) {
    ASSERT_EQ(choose_in_cache("group ", group), 1);
    build.cached_only = true;
    EXPECT_THAT(lacks(graph, device::cpu::cpu_device(), build),
                ::testing::HasSubstr("the choice of a batch group"));
    build.cached_only = false;
    EXPECT_NO_THROW(build_engine(graph, device::cpu::cpu_device(), build));
  }
}

TEST_F(TacticSearch, AnUnknownLayoutOfTheCacheIsSearchedAnew) {
  const auto graph = relu_network();
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  build_engine(graph, device::cpu::cpu_device(), build);
  ASSERT_EQ(choose_in_cache("layout ", "spiral"), 1);
  build.cached_only = true;
  EXPECT_THAT(lacks(graph, device::cpu::cpu_device(), build), ::testing::HasSubstr("the choice of a layout"));
  build.cached_only = false;
  build_engine(graph, device::cpu::cpu_device(), build);
  build.cached_only = true;
  EXPECT_EQ(lacks(graph, device::cpu::cpu_device(), build), "");
}

TEST_F(TacticSearch, AnUnknownTacticOfTheCacheIsSearchedAnew) {
  const FakeTactic slow("slow", {.delay_us = 150});
  const FakeTactic tiles("tiles", {.variants = {{"n=1", 80}, {"n=2", 20}}});
  const auto graph = relu_network();
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  for (const bool overlaps : {false, true}) {
    const FakeDevice device({&slow, &tiles}, overlaps);
    build_engine(graph, device, build);
    for (const char* unknown : {"nobody", "nobody:n=1", "tiles:n=9"}) {
      ASSERT_EQ(choose_in_cache("Relu ", unknown), 1);
      build.cached_only = true;
      EXPECT_THAT(lacks(graph, device, build), ::testing::HasSubstr("the times of Relu"));
      build.cached_only = false;
      const auto engine = build_engine(graph, device, build);
      EXPECT_TRUE(engine->tuned);
      EXPECT_THAT(relu_tactics(*engine), Each("tiles:n=2"));
      EXPECT_TRUE(records(*engine, unknown).empty());
    }
  }
}

TEST_F(TacticSearch, ACachedChoiceThatIsOfferedAndThenRefusesStays) {
  const FakeTactic tiles("tiles", {.variants = {{"n=1", 80}, {"n=2", FakeTactic::kRefuses}, {"n=4", 20}}});
  const FakeDevice device({&tiles}, false);
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  build_engine(relu_network(), device, build);
  ASSERT_EQ(choose_in_cache("Relu ", "tiles:n=2"), 1);
  build.cached_only = true;
  EXPECT_EQ(lacks(relu_network(), device, build), "");
}

TEST_F(TacticSearch, AHigherLevelTimesAnewWhatALowerOneTimedWithFewerSamples) {
  const FakeTactic slow("slow", {.delay_us = 150});
  const FakeTactic quick("quick", {.delay_us = 20});
  const auto graph = relu_network();
  // Only where steps overlap does level 2 do more than level 1; level 3 has more layouts and groups, no more
  // samples.
  const auto timed_by = [&](bool overlaps, const std::vector<int>& levels) {
    const FakeDevice device({&slow, &quick}, overlaps);
    std::vector<bool> timed;
    for (const int level : levels) {
      BuildOptions build = options(level);
      build.cache_folder = folder_ / (overlaps ? "overlapping" : "one by one");
      timed.push_back(build_engine(graph, device, build)->tuned);
    }
    return timed;
  };
  EXPECT_THAT(timed_by(false, {1, 2, 3, 4, 3, 1, 4, 5, 4, 5}),
              ElementsAre(true, false, false, true, false, false, false, true, false, false));
  EXPECT_THAT(timed_by(true, {1, 2, 3, 4, 3, 1}), ElementsAre(true, true, false, true, false, false));
}

TEST_F(TacticSearch, AHigherLevelChoosesTheLayoutAnew) {
  const auto graph = relu_network();
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  build_engine(graph, device::cpu::cpu_device(), build);
  build.optimization_level = 4;
  build.cached_only = true;
  EXPECT_THAT(lacks(graph, device::cpu::cpu_device(), build), ::testing::HasSubstr("the choice of a layout"));
}

TEST_F(TacticSearch, AWrongFavouriteIsRefusedWhenMostAgreeOnSomethingElse) {
  const FakeTactic wrong("wrong", {.scale = 0.5f});
  const FakeTactic one("one", {.delay_us = 20});
  const FakeTactic two("two", {.delay_us = 20});
  const FakeDevice device({&wrong, &one, &two}, false);
  const auto graph = relu_network();
  const auto engine = build_engine(graph, device, options(3));
  EXPECT_THAT(relu_tactics(*engine), Each(::testing::AnyOf("one", "two")));
  EXPECT_EQ(records(*engine, "wrong").at(0).refusal, "with it the network computes something else");
  expect_right(graph, engine, device);
}

TEST_F(TacticSearch, ATacticThatLivesOffEarlierRunsIsRefused) {
  const FakeTactic slow("slow", {.delay_us = 200});
  const FakeTactic stale("stale", {.writes_once = true});
  const auto graph = relu_network();
  const FakeDevice device({&slow, &stale}, true);
  const auto engine = build_engine(graph, device, options(3));
  EXPECT_THAT(relu_tactics(*engine), Each("slow"));
  EXPECT_EQ(records(*engine, "stale").at(0).refusal, "with it the network computes something else");
}

TEST_F(TacticSearch, OfTacticsThatAreWrongTogetherAsManyAsPossibleAreChosen) {
  const FakeTactic slow("slow", {.delay_us = 200});
  const FakeTactic racy("racy", {.delay_us = 20, .wrong_in_two_steps = true});
  // Three Relu steps of different shapes, so that they are chosen apart.
  GraphBuilder b;
  auto x = b.input("x", {1, 4, 24, 24});
  const std::vector<int64_t> window = {2, 2};
  for (int i = 0; i < 3; ++i) {
    x = b.node("MaxPool", {b.node("Conv", {x, b.random({4, 4, 1, 1}, -0.2, 0.5)})},
               {{"kernel_shape", window}, {"strides", window}});
    x = b.node("Relu", {x});
  }
  const auto graph = b.finish({b.node("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}})});
  for (const bool overlaps : {false, true}) {
    const FakeDevice device({&slow, &racy}, overlaps);
    const auto engine = build_engine(graph, device, options(3));
    const auto chosen = relu_tactics(*engine);
    EXPECT_EQ(std::count(chosen.begin(), chosen.end(), "racy"), 1);
    const auto racy = records(*engine, "racy");
    EXPECT_EQ(std::count_if(racy.begin(), racy.end(),
                            [](const TacticRecord& record) { return record.refusal.starts_with("beside"); }),
              2);
    expect_right(graph, engine, device);
  }
}

TEST_F(TacticSearch, NetworksWhoseOutputsAreNotNumbersAreSearchedToo) {
  GraphBuilder b;
  auto x = b.input("x", {1, 4, 24, 24});
  const auto graph = b.finish({b.node("Log", {relu_layers(b, x)}), b.node("Sqrt", {x})});
  const FakeTactic slow("slow", {.delay_us = 200});
  const FakeTactic quick("quick", {.delay_us = 20});
  const FakeDevice device({&slow, &quick}, false);
  EXPECT_THAT(relu_tactics(*build_engine(graph, device, options(3))), Each("quick"));
}

TEST_F(TacticSearch, EveryVariantIsTimedAndTheBestOneIsStored) {
  const FakeTactic tiles("tiles", {.variants = {{"n=1:a", 300}, {"n=2", 150}, {"n=4", 20}}});
  const FakeDevice device({&tiles}, false);
  const auto graph = relu_network();
  const auto engine = build_engine(graph, device, options(3));
  EXPECT_THAT(relu_tactics(*engine), Each("tiles:n=4"));
  for (const char* variant : {"tiles:n=1:a", "tiles:n=2", "tiles:n=4"}) {
    const auto timed = records(*engine, variant);
    ASSERT_EQ(timed.size(), size_t{kLayers}) << variant;
    EXPECT_GT(timed[0].samples, 0) << variant;
    EXPECT_EQ(timed[0].chosen, timed[0].tactic == "tiles:n=4");
  }
  EXPECT_EQ(records(*engine, "tiles:n=2")[0].median_us, 150);
  const auto file = folder_ / "engine.hone";
  save_engine(*engine, device, file);
  const auto loaded = load_engine(file);
  EXPECT_EQ(loaded->tactics, engine->tactics);
  tiles.forget();
  expect_right(graph, loaded, device);
  EXPECT_THAT(tiles.ran(), UnorderedElementsAre("n=4"));
}

TEST_F(TacticSearch, AVariantThatRefusesWhenAskedForIsRefused) {
  const FakeTactic tiles("tiles", {.variants = {{"n=1", 100}, {"n=2", FakeTactic::kRefuses}, {"n=4", 20}}});
  const FakeDevice device({&tiles}, false);
  const auto engine = build_engine(relu_network(), device, options(3));
  EXPECT_THAT(relu_tactics(*engine), Each("tiles:n=4"));
  const auto refused = records(*engine, "tiles:n=2");
  ASSERT_EQ(refused.size(), size_t{kLayers});
  EXPECT_EQ(refused[0].refusal, "it cannot run this step");
  EXPECT_EQ(refused[0].samples, 0);
}

TEST_F(TacticSearch, AFirstVariantThatRefusesCostsOnlyItself) {
  const FakeTactic tiles("tiles", {.variants = {{"n=1", FakeTactic::kRefuses}, {"n=2", 100}, {"n=4", 20}}});
  const FakeTactic plain("plain", {.delay_us = 300});
  const FakeDevice device({&tiles, &plain}, false);
  EXPECT_THAT(relu_tactics(*build_engine(relu_network(), device, options(3))), Each("tiles:n=4"));
}

TEST_F(TacticSearch, AnEngineThatNamesAnUnknownVariantStillRuns) {
  const FakeTactic tiles("tiles", {.variants = {{"n=1", 20}, {"n=2", 20}}});
  const FakeDevice device({&tiles}, false);
  const auto graph = relu_network();
  const auto engine = build_engine(graph, device, options(0));
  engine->tactics.assign(engine->graph->nodes.size(), "tiles:n=8");
  expect_right(graph, engine, device);
}

TEST_F(TacticSearch, StepsThatOverlapAreChosenInTheWholeNetwork) {
  // By its own time the greedy one is faster, but not so much that the other is not tried.
  const FakeTactic polite("polite", {.delay_us = 100});
  const FakeTactic greedy("greedy", {.delay_us = 90, .hidden_us = 400});
  const FakeTactic idle("idle", {.delay_us = 1000});
  const auto graph = relu_network();
  const FakeDevice device({&idle, &greedy, &polite}, true);
  const auto engine = build_engine(graph, device, options(4));
  EXPECT_THAT(relu_tactics(*engine), Each("polite"));
  for (const TacticRecord& record : records(*engine, "polite")) EXPECT_TRUE(record.chosen);
  expect_right(graph, engine, device);
}

TEST_F(TacticSearch, WhatAStepCostsTheNextOneCountsWhereTheNetworkHardlyShowsIt) {
  const auto graph = relus_behind_pools({2, 3});
  // 20 of 100,000 microseconds.
  const FakeTactic greedy("greedy",
                          {.delay_us = 90, .delays_next_us = 30, .slow_node = "Relu2", .slow_us = 100000});
  const FakeTactic polite("polite", {.delay_us = 100, .slow_node = "Relu2", .slow_us = 100000});
  const FakeDevice device({&greedy, &polite}, true);
  const auto engine = build_engine(graph, device, options(3));
  EXPECT_EQ(relu_tactics(*engine).front(), "polite");
  expect_right(graph, engine, device);
}

TEST_F(TacticSearch, TacticsThatPayTogetherOnlyAreTriedTogether) {
  // Two signatures: taken for the steps of one of them alone, the early one is slower.
  const auto graph = relus_behind_pools({2, 3});
  const FakeTactic alone("alone", {.delay_us = 6000});
  const FakeTactic early("early", {.delay_us = 10800, .saves_together_us = 18000});
  const FakeDevice device({&alone, &early}, true);
  const auto engine = build_engine(graph, device, options(3));
  EXPECT_THAT(relu_tactics(*engine), ElementsAre("early", "early"));
  expect_right(graph, engine, device);
}

TEST_F(TacticSearch, TacticsThatPayTogetherAreFoundBesideStepsWhereTheyDoNot) {
  // Three signatures; in the last step the early tactic is so slow that taking it everywhere does not pay.
  auto graph = relus_behind_pools({2, 3, 2});
  const auto last = std::find_if(graph.nodes.rbegin(), graph.nodes.rend(),
                                 [](const graph::Node& node) { return node.op == "Relu"; });
  last->name = "last";
  const FakeTactic alone("alone", {.delay_us = 800});
  const FakeTactic early("early",
                         {.delay_us = 1440, .saves_together_us = 2400, .slow_node = "last", .slow_us = 4000});
  const FakeDevice device({&alone, &early}, true);
  const auto engine = build_engine(graph, device, options(3));
  EXPECT_THAT(relu_tactics(*engine), ElementsAre("early", "early", "alone"));
}

TEST_F(TacticSearch, ASecondBuildTakesEverythingFromTheCache) {
  const FakeTactic slow("slow", {.delay_us = 150});
  const FakeTactic tiles("tiles", {.variants = {{"n=1", 80}, {"n=2", 20}}});
  const FakeDevice device({&slow, &tiles}, true);
  const auto graph = relu_network();
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  const auto first = build_engine(graph, device, build);
  EXPECT_THAT(relu_tactics(*first), Each("tiles:n=2"));
  tiles.forget();
  const auto second = build_engine(graph, device, build);
  EXPECT_EQ(second->tactics, first->tactics);
  EXPECT_EQ(second->layout, first->layout);
  EXPECT_THAT(tiles.ran(), UnorderedElementsAre("n=2")) << "a cached build only checks what it chose";
  EXPECT_TRUE(first->tuned);
  EXPECT_FALSE(second->tuned);
  expect_right(graph, second, device);
}

TEST_F(TacticSearch, AnExhaustiveSearchFindsWhatNobodyRecommendsThoughTheCacheKnowsTheRest) {
  const FakeTactic tiles("tiles", {.variants = {{"n=1", 150}, {"n=2", 80}, {"n=4", 20}}, .hides_last = true});
  const FakeDevice device({&tiles}, true);
  const auto graph = relu_network();
  BuildOptions ordinary = options(4);
  ordinary.cache_folder = folder_;
  BuildOptions exhaustive = options(5);
  exhaustive.cache_folder = folder_;
  EXPECT_THAT(relu_tactics(*build_engine(graph, device, ordinary)), Each("tiles:n=2"));
  const auto engine = build_engine(graph, device, exhaustive);
  EXPECT_THAT(relu_tactics(*engine), Each("tiles:n=4"));
  EXPECT_FALSE(build_engine(graph, device, exhaustive)->tuned) << "its times are kept too";
  const auto lower = build_engine(graph, device, ordinary);
  EXPECT_FALSE(lower->tuned) << "a lower level takes what a higher one found";
  EXPECT_THAT(relu_tactics(*lower), Each("tiles:n=4"));
  expect_right(graph, engine, device);
}

TEST_F(TacticSearch, TheCacheKeepsWhyTacticsAreRefused) {
  const FakeTactic wrong("wrong", {.scale = 0.5f});
  const FakeTactic one("one", {.delay_us = 20});
  const FakeTactic two("two", {.delay_us = 20});
  const FakeDevice device({&wrong, &one, &two}, false);
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  const auto first = build_engine(relu_network(), device, build);
  const auto second = build_engine(relu_network(), device, build);
  ASSERT_EQ(records(*second, "wrong").size(), size_t{kLayers});
  EXPECT_FALSE(second->tuned);
  ASSERT_EQ(second->log.size(), first->log.size());
  for (size_t i = 0; i < first->log.size(); ++i) EXPECT_EQ(second->log[i].refusal, first->log[i].refusal);
}

TEST_F(TacticSearch, ACachedChoiceThatIsWrongNowIsSearchedAnew) {
  const FakeTactic slow("slow", {.delay_us = 150});
  const FakeTactic quick("quick", {.delay_us = 20});
  const FakeTactic broken("quick", {.delay_us = 20, .scale = 2});
  const auto graph = relu_network();
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  EXPECT_THAT(relu_tactics(*build_engine(graph, FakeDevice({&slow, &quick}, true), build)), Each("quick"));
  const FakeDevice device({&slow, &broken}, true);
  const auto engine = build_engine(graph, device, build);
  EXPECT_THAT(relu_tactics(*engine), Each("slow"));
  expect_right(graph, engine, device);
}

TEST_F(TacticSearch, ACachedChoiceIsNotGivenUpForAFavouriteThatIsWrong) {
  const FakeTactic right("favourite", {.delay_us = 300});
  const FakeTactic wrong("favourite", {.delay_us = 10, .scale = 2});
  const FakeTactic quick("quick", {.delay_us = 20});
  const FakeTactic slow("slow", {.delay_us = 150});
  const auto graph = relu_network();
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  EXPECT_THAT(relu_tactics(*build_engine(graph, FakeDevice({&right, &quick, &slow}, true), build)),
              Each("quick"));
  const FakeDevice device({&wrong, &quick, &slow}, true);
  const auto engine = build_engine(graph, device, build);
  EXPECT_THAT(relu_tactics(*engine), Each("quick"));
  expect_right(graph, engine, device);
}

TEST_F(TacticSearch, StepsWithEqualSignaturesGetTheSameTactic) {
  // Chosen on its own, the third step would get the steady one.
  const FakeTactic steady("steady", {.delay_us = 80});
  const FakeTactic moody("moody", {.delay_us = 20, .slow_node = "Relu3", .slow_us = 400});
  const FakeDevice device({&steady, &moody}, false);
  const auto engine = build_engine(relu_network(), device, options(1));
  const auto chosen = relu_tactics(*engine);
  ASSERT_EQ(chosen.size(), size_t{kLayers});
  EXPECT_THAT(chosen, Each("moody"));
  const auto logged = records(*engine, "moody");
  ASSERT_EQ(logged.size(), size_t{kLayers});
  for (const TacticRecord& record : logged) {
    EXPECT_TRUE(record.chosen) << record.step;
    EXPECT_EQ(record.median_us, logged[0].median_us) << "one time for all of them";
  }
}

}  // namespace
}  // namespace hone::engine
