// Searches that have less time than they want. The budgets are so short that they are over when the first
// network has run, or so long that they never are, whatever the machine is busy with.
#include "engine/search/search_budget.hpp"

#include "engine/search/tactic_candidates.hpp"
#include "engine/search/tactic_refinement.hpp"
#include "engine/search/tactic_search.hpp"
#include "engine/search/tactic_trials.hpp"
#include "engine/tactic_search_fixture.hpp"
#include "graph/infer.hpp"

namespace hone::engine {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr double kNothing = 1e-9;
constexpr double kPlenty = 3600;

class BudgetedSearch : public TacticSearch {
 protected:
  std::shared_ptr<Engine> build(const Device& device, double seconds, int level = 3) const {
    BuildOptions build = options(level);
    build.cache_folder = folder_;
    build.budget_seconds = seconds;
    return build_engine(relu_network(), device, build);
  }

  FakeTactic slow_{"slow", {.delay_us = 150}};
  FakeTactic quick_{"quick", {.delay_us = 20}};
};

TEST_F(BudgetedSearch, WhatThereIsNoTimeForIsLeftOutAndSaidToBe) {
  for (const bool overlaps : {false, true}) {
    const FakeDevice device({&slow_, &quick_}, overlaps);
    const auto engine = build(device, kNothing);
    EXPECT_THAT(relu_tactics(*engine), Each("slow"));
    ASSERT_EQ(records(*engine, "quick").size(), size_t{kLayers});
    EXPECT_EQ(records(*engine, "quick")[0].refusal.text(), kNoTimeLeft);
    EXPECT_THAT(engine->cut_short, HasSubstr("candidates were not timed"));
    expect_right(relu_network(), engine, device);
    std::filesystem::remove_all(folder_);
  }
}

TEST_F(BudgetedSearch, TheCacheGivesWhatWasCutShortToBuildsThatHaveNoMoreTime) {
  const FakeDevice device({&slow_, &quick_}, true);
  const auto first = build(device, kNothing);
  const auto second = build(device, kNothing);
  EXPECT_FALSE(second->tuned);
  EXPECT_EQ(second->plans, first->plans);
  EXPECT_EQ(second->cut_short, first->cut_short);
  EXPECT_EQ(second->log.size(), first->log.size());
  const auto longer = build(device, kPlenty);
  EXPECT_TRUE(longer->tuned);
  EXPECT_THAT(relu_tactics(*longer), Each("quick"));
  EXPECT_EQ(longer->cut_short, "");
  const auto last = build(device, kNothing);
  EXPECT_THAT(relu_tactics(*last), Each("quick")) << "a complete search is as good for everybody";
}

TEST_F(BudgetedSearch, ABuildThatMayTimeNothingTakesWhatWasCutShort) {
  const FakeDevice device({&slow_, &quick_}, true);
  const auto first = build(device, kNothing);
  BuildOptions cached = options(3);
  cached.cache_folder = folder_;
  cached.cached_only = true;
  EXPECT_EQ(build_engine(relu_network(), device, cached)->plans, first->plans);
}

/// Choices that are right one by one and wrong together are tried by halves, as long as there is time for it.
TEST_F(BudgetedSearch, ChoicesThatThereIsNoTimeToCheckTogetherAreNotTaken) {
  const FakeTactic racy("racy", {.delay_us = 20, .wrong_in_two_steps = true});
  const FakeDevice device({&slow_, &racy}, false);
  const auto engine = build_engine(shrinking_network(3), device, options(0));
  const auto bound = engine->graph;
  for (const double seconds : {kNothing, kPlenty}) {
    TacticTrials trials(*engine, bound, device, false);
    LayoutSearch search = find_steps(*bound, Layout::kPlain, engine->policies, 1, TimingCache({}, "", 1));
    Plans sound;
    for (StepSearch& step : search.steps) {
      if (bound->nodes[static_cast<size_t>(step.keys.front().node)].op != "Relu") continue;
      ProgramStep made;
      made.plan.policy = engine->policy();
      made.candidates = {{"slow", ""}, {"racy", ""}};
      step.list(made, "");
      sound[step.keys.front()] = step.candidates[0].plan;
      step.chosen = 1;
    }
    trials.expect({{trials.first_outputs(*trials.program(search.layout, sound)), 1}}, search.layout);
    const int before = racy.runs();
    keep_what_agrees(search, sound, trials, SearchBudget(seconds));
    size_t taken = 0;
    size_t cut_short = 0;
    for (const StepSearch& step : search.steps) {
      taken += step.chosen;
      cut_short += step.cut_short ? 1 : 0;
    }
    EXPECT_EQ(taken, seconds == kPlenty ? 1u : 0u);
    EXPECT_EQ(cut_short, seconds == kPlenty ? 0u : 3u);
    EXPECT_TRUE(seconds == kPlenty || racy.runs() == before);
  }
}

TEST_F(BudgetedSearch, HighLevelsHaveNoLimitUnlessTheyAreGivenOne) {
  FakeDevice hasty({&slow_, &quick_}, false);
  hasty.own_search_seconds = kNothing;
  EXPECT_THAT(relu_tactics(*build_engine(relu_network(), hasty, options(3))), Each("slow"));
  EXPECT_THAT(relu_tactics(*build_engine(relu_network(), hasty, options(4))), Each("quick"));
}

TEST_F(BudgetedSearch, ProgressTellsTheTimeThatIsLeft) {
  const FakeDevice device({&slow_, &quick_}, true);
  std::vector<base::Progress> told;
  BuildOptions build = options(3);
  build.budget_seconds = kPlenty;
  build.progress = [&](const base::Progress& progress) { told.push_back(progress); };
  build_engine(relu_network(), device, build);
  ASSERT_FALSE(told.empty());
  EXPECT_THAT(told.front().doing, HasSubstr("round 1 of 2"));
  for (const base::Progress& progress : told) {
    EXPECT_GE(progress.left_seconds, 0);
    EXPECT_LE(progress.left_seconds, kPlenty);
  }
}

TEST_F(BudgetedSearch, FirstVariantsOfAllTacticsComeFirst) {
  StepSearch step;
  ProgramStep made;
  made.candidates = {{"a", "1"}, {"a", "2"}, {"a", "3"}, {"b", ""}, {"c", "1"}, {"c", "2"}};
  step.list_dissolved({});
  step.list(made, "");
  step.rank();
  std::vector<std::string> order;
  for (const Candidate& candidate : step.candidates) order.push_back(candidate.plan.tactic.text());
  EXPECT_THAT(order, ::testing::ElementsAre("a:1", "b", "c:1", "a:2", "c:2", "a:3", "dissolved"));
}

/// Pieces take long to get ready: no tactic waits for them.
TEST_F(BudgetedSearch, DissolvingComesAfterTheTacticsOfAllSteps) {
  LayoutSearch search;
  const auto add = [&](std::vector<TacticId> tactics, bool dissolves) {
    StepSearch& step = search.steps.emplace_back();
    ProgramStep made;
    made.candidates = std::move(tactics);
    step.list(made, "");
    if (dissolves) step.list_dissolved({});
    step.rank();
  };
  add({{"a", "1"}, {"a", "2"}, {"a", "3"}}, false);
  add({{"b", ""}}, true);
  add({}, true);
  EXPECT_EQ(search.tactic_rounds(), 3u);
  EXPECT_EQ(search.rounds(), 4u);
  std::string taken;
  for (const StepSearch& step : search.steps) {
    for (size_t k = 0; k < search.rounds(); ++k) taken += std::to_string(search.candidate_of_round(step, k));
    taken += " ";
  }
  EXPECT_EQ(taken, "0120 0001 0000 ");
}

TEST_F(BudgetedSearch, NoiseDissolvesNothing) {
  StepSearch step;
  ProgramStep made;
  made.candidates = {{"whole", ""}};
  step.list(made, "");
  step.list_dissolved({});
  step.candidates[0].times = {20};
  step.candidates[1].times = {10};
  step.choose();
  EXPECT_EQ(step.chosen, 0u);
  step.candidates[1].times = {19, 19, 19};
  step.choose();
  EXPECT_EQ(step.chosen, 0u);
  step.candidates[1].times = {10, 10, 10};
  step.choose();
  EXPECT_EQ(step.chosen, 1u);
}

}  // namespace
}  // namespace hone::engine
