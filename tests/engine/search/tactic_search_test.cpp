// The tactic search, on devices that wrap the CPU's and offer tactics which are wrong, refuse, or differ in
// their time by far more than noise.
#include "engine/search/tactic_search.hpp"

#include <algorithm>

#include "engine/engine_file.hpp"
#include "engine/tactic_search_fixture.hpp"

namespace hone::engine {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

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
      EXPECT_EQ(record.refusal.text(), "with it the network computes something else");
      EXPECT_FALSE(record.chosen);
    }
    for (const TacticRecord& record : records(*engine, "slow")) EXPECT_EQ(record.refusal.text(), "");
    expect_right(graph, engine, device);
  }
}

TEST_F(TacticSearch, AFastTacticThatWasDisturbedIsTimedAgain) {
  const FakeTactic slow("slow", {.delay_us = 200});
  const FakeTactic quick("quick", {.delay_us = 20});
  FakeDevice device({&slow, &quick}, false);
  device.first_delays_us = {{"quick", 5000}};
  device.others_share = 0.5;
  const auto engine = build_engine(relu_network(), device, options(3));
  EXPECT_THAT(relu_tactics(*engine), Each("quick"));
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
    EXPECT_EQ(records(*engine, "large")[0].refusal.text(), "the device has no room for it");
    expect_right(graph, engine, device);
  }
}

TEST_F(TacticSearch, ADeviceThatIsLostEndsTheSearchWhereverItIs) {
  const FakeTactic slow("slow", {.delay_us = 200});
  const auto graph = relu_network();
  BuildOptions build = options(4);
  build.cache_folder = folder_;
  const auto runs_until_lost = [&](int run) {
    const FakeTactic quick("quick", {.delay_us = 20, .lost_in_run = run});
    try {
      build_engine(graph, FakeDevice({&slow, &quick}, true), build);
    } catch (const LostDevice& error) {
      EXPECT_STREQ(error.what(), "the device is lost");
      EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "what was found until then is kept";
    }
    return quick.runs();
  };
  const int all = runs_until_lost(std::numeric_limits<int>::max());
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
  // In the first look, between the looks, and where choices are tried in the whole network.
  for (const int run : {1, kLayers + 1, all / 2, all - kLayers, all}) EXPECT_EQ(runs_until_lost(run), run);
}

TEST_F(TacticSearch, ATacticThatDoesNotFitInOneStepIsRefusedThereAlone) {
  const FakeTactic slow("slow", {.delay_us = 200});
  const FakeTactic quick("quick", {.delay_us = 20, .does_not_fit_in = "relu 0"});
  const FakeTactic slower("slower", {.delay_us = 300});
  const auto graph = shrinking_network(3);
  for (const bool overlaps : {false, true}) {
    const FakeDevice device({&slow, &quick, &slower}, overlaps);
    const auto engine = build_engine(graph, device, options(3));
    EXPECT_THAT(relu_tactics(*engine), ElementsAre("slow", "quick", "quick"));
    for (const TacticRecord& record : records(*engine, "quick"))
      EXPECT_EQ(record.refusal.text(), record.step == "relu 0" ? "the device has no room for it" : "");
    for (const TacticRecord& record : records(*engine, "slower")) EXPECT_EQ(record.refusal.text(), "");
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

TEST_F(TacticSearch, AWrongFavouriteIsRefusedWhenMostAgreeOnSomethingElse) {
  const FakeTactic wrong("wrong", {.scale = 0.5f});
  const FakeTactic one("one", {.delay_us = 20});
  const FakeTactic two("two", {.delay_us = 20});
  const FakeDevice device({&wrong, &one, &two}, false);
  const auto graph = relu_network();
  const auto engine = build_engine(graph, device, options(3));
  EXPECT_THAT(relu_tactics(*engine), Each(::testing::AnyOf("one", "two")));
  EXPECT_EQ(records(*engine, "wrong").at(0).refusal.text(), "with it the network computes something else");
  expect_right(graph, engine, device);
}

TEST_F(TacticSearch, WhereNoTwoAgreeTheReferenceDecides) {
  const FakeTactic wrong("wrong", {.scale = 0.5f});
  const FakeTactic right("right", {.delay_us = 20});
  const FakeTactic other("other", {.scale = 2.0f});
  const auto graph = relu_network();
  for (const std::vector<const FakeTactic*>& tactics :
       {std::vector<const FakeTactic*>{&wrong, &right}, {&wrong, &other, &right}}) {
    const FakeDevice device(tactics, false);
    const auto engine = build_engine(graph, device, options(3));
    EXPECT_THAT(relu_tactics(*engine), Each("right"));
    expect_right(graph, engine, device);
  }
}

TEST_F(TacticSearch, ATacticThatLivesOffEarlierRunsIsRefused) {
  const FakeTactic slow("slow", {.delay_us = 200});
  const FakeTactic stale("stale", {.writes_once = true});
  const auto graph = relu_network();
  const FakeDevice device({&slow, &stale}, true);
  const auto engine = build_engine(graph, device, options(3));
  EXPECT_THAT(relu_tactics(*engine), Each("slow"));
  EXPECT_EQ(records(*engine, "stale").at(0).refusal.text(), "with it the network computes something else");
}

TEST_F(TacticSearch, OfTacticsThatAreWrongTogetherAsManyAsPossibleAreChosen) {
  const FakeTactic slow("slow", {.delay_us = 200});
  const FakeTactic racy("racy", {.delay_us = 20, .wrong_in_two_steps = true});
  const auto graph = shrinking_network(3);
  for (const bool overlaps : {false, true}) {
    const FakeDevice device({&slow, &racy}, overlaps);
    const auto engine = build_engine(graph, device, options(3));
    const auto chosen = relu_tactics(*engine);
    EXPECT_EQ(std::count(chosen.begin(), chosen.end(), "racy"), 1);
    const auto racy = records(*engine, "racy");
    EXPECT_EQ(std::count_if(racy.begin(), racy.end(),
                            [](const TacticRecord& record) {
                              return record.refusal.text().starts_with("with the other steps");
                            }),
              2);
    expect_right(graph, engine, device);
  }
}

TEST_F(TacticSearch, AWrongTacticIsFoundInFewNetworks) {
  // One of two candidates, so that it comes up in every second round, in each of six steps.
  const FakeTactic wrong("wrong", {.scale = 1.25f});
  std::vector<std::pair<std::string, double>> variants;
  for (int i = 0; i < 16; ++i) variants.emplace_back(fmt::format("n={}", i), 100 + i);
  const FakeTactic tiles("tiles", {.variants = variants});
  const auto graph = relus_behind_pools({2, 2, 2, 2, 2, 2});
  const FakeDevice device({&tiles, &wrong}, false);
  const auto engine = build_engine(graph, device, options(3));
  EXPECT_THAT(relu_tactics(*engine), Each("tiles:n=0"));
  EXPECT_EQ(records(*engine, "wrong").at(0).refusal.text(), "with it the network computes something else");
  // One round by 17 candidates shows it, and that the other ones of this round are right.
  const int looks = 6 * (17 * 2 + 7 * 16);
  EXPECT_LE(tiles.runs() + wrong.runs(), looks + 6 * 40);
}

TEST_F(TacticSearch, StepsThatRunAlikeInAnotherLayoutAreTimedOnce) {
  const FakeTactic slow("slow", {.delay_us = 150});
  const FakeTactic quick("quick", {.delay_us = 20});
  GraphBuilder b;
  auto x = b.node("MatMul", {b.input("x", {4, 24}), b.random({24, 24}, -0.2, 0.5)});
  x = b.node("Relu", {b.node("Transpose", {x}, {{"perm", std::vector<int64_t>{1, 0}}})});
  x = b.node("MatMul", {b.random({24, 24}, -0.2, 0.5), x});
  const auto graph = b.finish({x});
  const auto runs_of_slow = [&](std::vector<Layout> layouts) {
    FakeDevice device({&slow, &quick}, false);
    device.layouts = std::move(layouts);
    BuildOptions build = options(3);
    build.shapes = {{"x", {{4, 24}, {4, 24}, {4, 24}}}};
    const int before = slow.runs();
    const auto engine = build_engine(graph, device, build);
    EXPECT_EQ(records(*engine, "quick").size(), device.layouts.size());
    EXPECT_THAT(relu_tactics(*engine), Each("quick"));
    return slow.runs() - before;
  };
  EXPECT_EQ(runs_of_slow({Layout::kPlain, Layout::kChannelsLast}), runs_of_slow({Layout::kPlain}));
}

/// Its operand is the caller's, plain in every layout.
TEST_F(TacticSearch, StepsWhoseResultsLieOtherwiseInAnotherLayoutAreTimedAgain) {
  FakeTactic slow("slow", {.delay_us = 150});
  FakeTactic quick("quick", {.delay_us = 20});
  for (FakeTactic* tactic : {&slow, &quick}) {
    tactic->make = [plain = tactic->make](const StepRequest& request, WeightStore& weights) {
      Offer offer = plain(request, weights);
      // It has one channel, so that the kernel need not mind.
      offer.outputs[0].layout = layout_for_shape(request.layout, offer.outputs[0].shape);
      return offer;
    };
  }
  GraphBuilder b;
  const auto graph = b.finish({b.node("Relu", {b.input("x", {1, 1, 24, 24})})});
  const auto runs_of_slow = [&](std::vector<Layout> layouts) {
    FakeDevice device({&slow, &quick}, false);
    device.layouts = std::move(layouts);
    BuildOptions build = options(3);
    build.shapes = {{"x", {{1, 1, 24, 24}, {1, 1, 24, 24}, {1, 1, 24, 24}}}};
    const int before = slow.runs();
    EXPECT_THAT(relu_tactics(*build_engine(graph, device, build)), Each("quick"));
    return slow.runs() - before;
  };
  EXPECT_GT(runs_of_slow({Layout::kPlain, Layout::kChannelsLast}), runs_of_slow({Layout::kPlain}));
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
  EXPECT_EQ(loaded->plans, engine->plans);
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
  EXPECT_EQ(refused[0].refusal.text(), "it cannot run this step");
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
  plan_all(*engine, "tiles:n=8");
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
