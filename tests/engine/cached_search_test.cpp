// The tactic search takes some times from the timing cache, and looks for others anew.
#include <algorithm>

#include "engine/engine_file.hpp"
#include "engine/tactic_search_fixture.hpp"

namespace hone::engine {
namespace {

using CachedSearch = TacticSearch;

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST_F(CachedSearch, AnImpossibleGroupOfTheCacheIsSearchedAnew) {
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

TEST_F(CachedSearch, AnUnknownLayoutOfTheCacheIsSearchedAnew) {
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

TEST_F(CachedSearch, NothingIsMissingForANetworkThatCannotBeTimed) {
  GraphBuilder b;
  const auto x = relu_layers(b, b.input("x", {1, 4, 24, 24}));
  const auto graph = b.finish({b.node("Gather", {x, b.input("indices", {2}, DType::kInt64)})});
  BuildOptions build = options(3);
  build.shapes["indices"] = {{2}, {2}, {2}};
  build.cache_folder = folder_;
  build.cached_only = true;
  EXPECT_THAT(lacks(graph, device::cpu::cpu_device(), build), ::testing::HasSubstr("the choice of a layout"));
  build.cached_only = false;
  const auto searched = build_engine(graph, device::cpu::cpu_device(), build);
  EXPECT_THAT(searched->not_timed, ::testing::HasSubstr("Gather"));
  build.cached_only = true;
  const auto cached = build_engine(graph, device::cpu::cpu_device(), build);
  EXPECT_EQ(cached->not_timed, searched->not_timed);
  EXPECT_EQ(cached->layout, searched->layout);
  EXPECT_EQ(cached->plans, searched->plans);
}

TEST_F(CachedSearch, AnUnknownTacticOfTheCacheIsSearchedAnew) {
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

TEST_F(CachedSearch, ACachedChoiceThatIsOfferedAndThenRefusesStays) {
  const FakeTactic tiles("tiles", {.variants = {{"n=1", 80}, {"n=2", FakeTactic::kRefuses}, {"n=4", 20}}});
  const FakeDevice device({&tiles}, false);
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  build_engine(relu_network(), device, build);
  ASSERT_EQ(choose_in_cache("Relu ", "tiles:n=2"), 1);
  build.cached_only = true;
  EXPECT_EQ(lacks(relu_network(), device, build), "");
}

TEST_F(CachedSearch, AHigherLevelTimesAnewWhatALowerOneTimedWithFewerSamples) {
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

TEST_F(CachedSearch, AHigherLevelChoosesTheLayoutAnew) {
  const auto graph = relu_network();
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  build_engine(graph, device::cpu::cpu_device(), build);
  build.optimization_level = 4;
  build.cached_only = true;
  EXPECT_THAT(lacks(graph, device::cpu::cpu_device(), build), ::testing::HasSubstr("the choice of a layout"));
}

TEST_F(CachedSearch, TimesOfADisturbedMachineAreTakenAgainWhenItIsQuiet) {
  const FakeTactic slow("slow", {.delay_us = 150});
  const FakeTactic quick("quick", {.delay_us = 20});
  FakeDevice device({&slow, &quick}, true);
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  device.others_share = 0.5;
  EXPECT_TRUE(build_engine(relu_network(), device, build)->tuned);
  EXPECT_FALSE(build_engine(relu_network(), device, build)->tuned) << "it is as busy as it was";
  device.others_share = 0.01;
  build.cached_only = true;
  EXPECT_EQ(lacks(relu_network(), device, build), "");
  build.cached_only = false;
  EXPECT_TRUE(build_engine(relu_network(), device, build)->tuned);
  EXPECT_FALSE(build_engine(relu_network(), device, build)->tuned) << "they are good now";
}

TEST_F(CachedSearch, WhatFoundNoMemoryOnceIsTriedAgain) {
  const FakeTactic slow("slow", {.delay_us = 150});
  const FakeTactic large("quick", {.delay_us = 20, .does_not_fit = true});
  const FakeTactic quick("quick", {.delay_us = 20});
  const auto graph = relu_network();
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  for (const bool overlaps : {false, true}) {
    build.cache_folder = folder_ / (overlaps ? "overlapping" : "one by one");
    const FakeDevice full({&slow, &large}, overlaps);
    const FakeDevice empty({&slow, &quick}, overlaps);
    const auto without = build_engine(graph, full, build);
    EXPECT_THAT(relu_tactics(*without), Each("slow"));
    build.cached_only = true;
    const auto cached = build_engine(graph, full, build);
    EXPECT_EQ(cached->plans, without->plans) << "a build that may time nothing lacks nothing";
    ASSERT_EQ(cached->log.size(), without->log.size());
    build.cached_only = false;
    EXPECT_THAT(relu_tactics(*build_engine(graph, empty, build)), Each("quick"));
    EXPECT_FALSE(build_engine(graph, empty, build)->tuned) << "now nothing is left to try";
  }
}

TEST_F(CachedSearch, ASecondBuildTakesEverythingFromTheCache) {
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
  EXPECT_EQ(second->plans, first->plans);
  EXPECT_EQ(second->layout, first->layout);
  EXPECT_THAT(tiles.ran(), UnorderedElementsAre("n=2")) << "a cached build only checks what it chose";
  EXPECT_TRUE(first->tuned);
  EXPECT_FALSE(second->tuned);
  expect_right(graph, second, device);
}

TEST_F(CachedSearch, AnExhaustiveSearchFindsWhatNobodyRecommendsThoughTheCacheKnowsTheRest) {
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

TEST_F(CachedSearch, TheCacheKeepsWhyTacticsAreRefused) {
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
  for (size_t i = 0; i < first->log.size(); ++i)
    EXPECT_EQ(second->log[i].refusal.text(), first->log[i].refusal.text());
}

TEST_F(CachedSearch, ACachedChoiceThatIsWrongNowIsSearchedAnew) {
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

TEST_F(CachedSearch, ACachedChoiceThatIsWrongBesideStepsThatAreNotCachedIsSearchedAnew) {
  const FakeTactic slow("slow", {.delay_us = 150});
  const FakeTactic slower("slower", {.delay_us = 160});
  const FakeTactic quick("quick", {.delay_us = 20});
  const FakeTactic broken("quick", {.delay_us = 20, .scale = 2});
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  EXPECT_THAT(
      relu_tactics(*build_engine(shrinking_network(1), FakeDevice({&slow, &slower, &quick}, true), build)),
      Each("quick"));
  const auto graph = shrinking_network(2);
  const FakeDevice device({&slow, &slower, &broken}, true);
  build.cached_only = true;
  EXPECT_THAT(lacks(graph, device, build),
              HasSubstr("right choices: with it the network computes something else"));
  build.cached_only = false;
  const auto engine = build_engine(graph, device, build);
  EXPECT_THAT(relu_tactics(*engine), Each("slow"));
  expect_right(graph, engine, device);
}

TEST_F(CachedSearch, AFavouriteThatDoesNotFitIsNotNeededForWhatIsCached) {
  const FakeTactic large("large", {.does_not_fit = true});
  const FakeTactic small("small", {.delay_us = 200});
  const FakeDevice device({&large, &small}, true);
  const auto graph = relu_network();
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  EXPECT_THAT(relu_tactics(*build_engine(graph, device, build)), Each("small"));
  build.cached_only = true;
  const auto engine = build_engine(graph, device, build);
  EXPECT_THAT(relu_tactics(*engine), Each("small"));
  expect_right(graph, engine, device);
}

TEST_F(CachedSearch, AFavouriteThatDoesNotFitCostsNoCachedChoice) {
  const FakeTactic large("large", {.does_not_fit = true});
  const FakeTactic small("small", {.delay_us = 200});
  const FakeDevice device({&large, &small}, true);
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  EXPECT_THAT(relu_tactics(*build_engine(shrinking_network(1), device, build)), Each("small"));
  build.cached_only = true;
  EXPECT_THAT(lacks(shrinking_network(2), device, build), HasSubstr("the times of "));
}

TEST_F(CachedSearch, ACachedChoiceThatDoesNotFitNowIsSearchedAnew) {
  const FakeTactic slow("slow", {.delay_us = 150});
  const FakeTactic quick("quick", {.delay_us = 20});
  const FakeTactic large("quick", {.delay_us = 20, .does_not_fit = true});
  const auto graph = relu_network();
  BuildOptions build = options(3);
  build.cache_folder = folder_;
  EXPECT_THAT(relu_tactics(*build_engine(graph, FakeDevice({&slow, &quick}, true), build)), Each("quick"));
  const FakeDevice device({&slow, &large}, true);
  const auto engine = build_engine(graph, device, build);
  EXPECT_THAT(relu_tactics(*engine), Each("slow"));
  expect_right(graph, engine, device);
}

TEST_F(CachedSearch, ACachedChoiceIsNotGivenUpForAFavouriteThatIsWrong) {
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

}  // namespace
}  // namespace hone::engine
