// Engines whose steps may have several numeric policies: which ones a search takes, and what becomes of them.
#include "engine/search/policy_choice.hpp"

#include "engine/description.hpp"
#include "engine/engine_file.hpp"
#include "engine/tactic_search_fixture.hpp"

namespace hone::engine {
namespace {

using PolicyChoice = TacticSearch;

using ::testing::Each;
using ::testing::HasSubstr;

/// Lacks bf16, so that it is emulated whatever the processor has.
class WithoutBf16 final : public FakeDevice {
 public:
  using FakeDevice::FakeDevice;
  bool computes_in(Precision precision) const override { return precision == Precision::kFp32; }
  std::vector<NumericPolicy> finer_policies(Precision) const override { return finer; }

  std::vector<NumericPolicy> finer;
};

BuildOptions two_precisions(int level) {
  BuildOptions build = options(level);
  build.other_precisions = {Precision::kBf16};
  return build;
}

/// Policies of the steps of this operator.
std::vector<std::string> policies_of(const Engine& engine, const std::string& op) {
  std::vector<std::string> result;
  for (const auto& [key, plan] : engine.plans) {
    if (engine.graph->nodes[static_cast<size_t>(key.node)].op == op)
      result.emplace_back(policy_name(plan.policy));
  }
  return result;
}

double error_of(const graph::Graph& graph, const std::shared_ptr<Engine>& engine, const Device& device) {
  const auto inputs = test::random_inputs(graph, 7, 1);
  return test::relative_error(Context(engine, device, 1).run(inputs)[0],
                              reference::run_graph(graph, inputs)[0]);
}

/// Errors of 2^-9 each, added over the layers; the worst case, whatever the weights.
constexpr double kBf16Error = 2 * kLayers * 0x1p-9;

TEST_F(PolicyChoice, EachStepGetsTheFastestPolicy) {
  const FakeTactic relu("relu", {});
  for (const bool overlaps : {false, true}) {
    WithoutBf16 device({&relu}, overlaps);
    device.times_us = {{"relu", 200}, {"relu in bf16-emulated", 20}};
    const auto engine = build_engine(relu_network(), device, two_precisions(3));
    EXPECT_EQ(policies_text(engine->policies), "fp32+bf16-emulated");
    EXPECT_THAT(policies_of(*engine, "Relu"), Each("bf16-emulated"));
    EXPECT_THAT(policies_of(*engine, "MaxPool"), Each("fp32")) << "equally fast: the engine's own";
    const auto logged = records(*engine, "relu");
    ASSERT_EQ(logged.size(), size_t{2 * kLayers});
    for (const TacticRecord& record : logged) {
      EXPECT_EQ(record.chosen, record.policy == emulated_bf16());
      EXPECT_EQ(record.median_us, record.chosen ? 20 : 200);
    }
    EXPECT_LE(error_of(relu_network(), engine, device), kBf16Error);
  }
}

TEST_F(PolicyChoice, ADeviceMayBeFasterInAFinerOne) {
  const FakeTactic relu("relu", {});
  WithoutBf16 device({&relu}, false);
  device.times_us = {{"relu", 20}, {"relu in bf16-emulated", 200}};
  BuildOptions build = options(3);
  build.precision = Precision::kBf16;
  EXPECT_EQ(policies_text(build_engine(relu_network(), device, build)->policies), "bf16-emulated");
  device.finer = {policy_of(Precision::kFp32)};
  const auto engine = build_engine(relu_network(), device, build);
  EXPECT_EQ(policies_text(engine->policies), "bf16-emulated+fp32");
  EXPECT_THAT(policies_of(*engine, "Relu"), Each("fp32"));
  EXPECT_THAT(policies_of(*engine, "MaxPool"), Each("fp32")) << "equally fast: what the device expects";
  build.other_precisions = {Precision::kFp32};
  EXPECT_EQ(policies_text(build_engine(relu_network(), device, build)->policies), "bf16-emulated+fp32");
  build.budget_seconds = 1e-9;
  EXPECT_THAT(policies_of(*build_engine(relu_network(), device, build), "Relu"), Each("fp32"))
      << "there is no time to compare them";
  build = options(0);
  build.precision = Precision::kBf16;
  EXPECT_EQ(policies_text(build_engine(relu_network(), device, build)->policies), "bf16-emulated")
      << "nothing is searched";
}

TEST_F(PolicyChoice, OnePolicyForAllWhereMixingCostsMore) {
  const FakeTactic relu("relu", {});
  WithoutBf16 device({&relu}, false);
  device.times_us = {{"relu", 200}, {"relu in bf16-emulated", 20}};
  // oneDNN has no fast pooling for plain images with AVX2.
  for (const char* tactic : {"onednn_pooling", "row_pooling"})
    device.times_us[fmt::format("{} in bf16-emulated", tactic)] = 100;
  device.mixed_us = 10'000;
  const auto engine = build_engine(relu_network(), device, two_precisions(3));
  EXPECT_THAT(policies_of(*engine, "Relu"), Each("bf16-emulated"));
  EXPECT_THAT(policies_of(*engine, "MaxPool"), Each("bf16-emulated"));
  device.times_us["relu in bf16-emulated"] = 190;
  const auto other = build_engine(relu_network(), device, two_precisions(3));
  EXPECT_THAT(policies_of(*other, "Relu"), Each("fp32"));
  EXPECT_THAT(policies_of(*other, "MaxPool"), Each("fp32"));
}

TEST_F(PolicyChoice, TakesNoTimeThatThereIsNot) {
  const FakeTactic relu("relu", {});
  WithoutBf16 device({&relu}, false);
  device.mixed_us = 10'000;
  const auto engine = build_engine(relu_network(), device, two_precisions(0));
  TacticTrials trials(*engine, engine->graph, device, false);
  LayoutSearch search =
      find_steps(*engine->graph, Layout::kPlain, engine->policies, 1, TimingCache({}, "", 1));
  for (StepSearch& step : search.steps) {
    for (const NumericPolicy& policy : engine->policies) {
      ProgramStep made;
      made.plan.policy = policy;
      made.candidates = {{engine->graph->nodes[static_cast<size_t>(step.keys.front().node)].op, ""}};
      step.list(made, "");
    }
  }
  // Which policy is faster depends on the step.
  for (size_t i = 0; i < search.steps.size(); ++i) search.steps[i].chosen = i % 2;
  const Plans mixed = search.plans();
  const SearchBudget nothing(1e-9);
  const std::function<void(const base::Progress&)> listener;
  choose_policies(search, engine->policies, trials, nothing, SearchProgress(listener, nothing));
  EXPECT_EQ(relu.runs(), 0);
  EXPECT_EQ(search.plans(), mixed);
  for (const StepSearch& step : search.steps) EXPECT_TRUE(step.cut_short);
}

TEST_F(PolicyChoice, TheCacheKeepsThePolicies) {
  const FakeTactic relu("relu", {});
  WithoutBf16 device({&relu}, false);
  device.times_us = {{"relu", 200}, {"relu in bf16-emulated", 20}};
  BuildOptions build = two_precisions(3);
  build.cache_folder = folder_;
  const auto first = build_engine(relu_network(), device, build);
  build.cached_only = true;
  const auto second = build_engine(relu_network(), device, build);
  EXPECT_FALSE(second->tuned);
  EXPECT_EQ(second->plans, first->plans);
  EXPECT_EQ(second->log.size(), first->log.size());
  build.other_precisions.clear();
  EXPECT_THAT(lacks(relu_network(), device, build), HasSubstr("the timing cache lacks"));
}

/// On the CPU as it is: bf16 where it has that, emulated where not.
TEST_F(PolicyChoice, AStepOfAnotherPolicyRunsIsStoredAndShown) {
  const Device& device = device::cpu::cpu_device();
  GraphBuilder b;
  auto x = b.input("x", {1, 4, 24, 24});
  for (int i = 0; i < 3; ++i) x = b.node("Tanh", {b.conv(x, 4, 4)});
  const auto graph = b.finish({x});
  const auto engine = build_engine(graph, device, two_precisions(0));
  const double exact = error_of(graph, engine, device);
  plan_all(*engine, "");
  ASSERT_GE(engine->graph->nodes.size(), 3u);
  const NumericPolicy other = device.policy_for(Precision::kBf16);
  engine->plans[{1, {}}].policy = other;
  const double rounded = error_of(graph, engine, device);
  EXPECT_GT(rounded, 10 * exact);
  EXPECT_LE(rounded, 3 * 4 * 0x1p-9) << "each of three layers may double what rounding costs";

  const auto path = folder_ / "mixed.hone";
  save_engine(*engine, device, path);
  const auto loaded = load_engine(path);
  EXPECT_EQ(loaded->plans, engine->plans);
  EXPECT_EQ(loaded->policies, engine->policies);
  EXPECT_EQ(error_of(graph, loaded, device), rounded);

  LoadedEngine shown(loaded, device, 1);
  const Json json = description_json(*loaded, describe(shown, tuned_shapes(*loaded)));
  EXPECT_EQ(json["policies"], Json({"fp32", policy_name(other)}));
  for (const Json& step : json["steps"]) {
    if (step["policy"].is_null()) continue;  // what the engine inserted
    const bool is_other = step["name"] == engine->graph->nodes[1].name;
    EXPECT_EQ(step["policy"], is_other ? policy_name(other) : "fp32");
  }
}

}  // namespace
}  // namespace hone::engine
