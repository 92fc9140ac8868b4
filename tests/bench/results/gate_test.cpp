// The regression gate on synthetic samples: it fails on what is proven and confirmed, never on noise.
#include "bench/results/gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "base/random.hpp"

namespace hone::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::StrEq;
using ::testing::ThrowsMessage;
using Outcome = GateRow::Outcome;

Run make_run(const std::string& backend, double center, double noise, uint64_t seed) {
  base::Random random(seed);
  Run run;
  run.setup = {"net", backend, "fp32", 1};
  run.setup.threads = 2;
  for (int round = 0; round < 10; ++round) {
    const double level = center * (1 + noise * random.normal());
    auto& samples = run.rounds.emplace_back();
    for (int i = 0; i < 10; ++i) samples.push_back(level * (1 + 0.01 * std::abs(random.normal())));
  }
  return run;
}

Run make_failed(const std::string& backend) {
  Run run = make_run(backend, 10, 0.01, 2);
  run.rounds.clear();
  run.failure = "crashed";
  return run;
}

Sweep make_sweep(std::vector<Run> runs) {
  Sweep sweep;
  sweep.context = {{"cpu", "a processor"}};
  sweep.runs = std::move(runs);
  return sweep;
}

Run never(const bench::Setup&) {
  ADD_FAILURE() << "nothing needed to be measured again";
  return {};
}

TEST(Gate, PassesWhenNothingChanged) {
  const Gate gate = compare_with_baseline(make_sweep({make_run("hone", 10, 0.01, 1)}),
                                          make_sweep({make_run("hone", 10, 0.01, 2)}), 0.05, never);
  ASSERT_EQ(gate.rows.size(), 1u);
  EXPECT_EQ(gate.rows[0].outcome, Outcome::kWithin);
  EXPECT_TRUE(gate.passed());
}

TEST(Gate, FailsOnAConfirmedRegression) {
  uint64_t again = 0;
  const Gate gate = compare_with_baseline(make_sweep({make_run("hone", 10, 0.01, 1)}),
                                          make_sweep({make_run("hone", 12, 0.01, 2)}), 0.05,
                                          [&](const bench::Setup& setup) {
                                            EXPECT_EQ(setup.backend, "hone");
                                            return make_run("hone", 12, 0.01, 3 + ++again);
                                          });
  EXPECT_EQ(gate.rows[0].outcome, Outcome::kRegressed);
  EXPECT_EQ(gate.rows[0].confirmations, 2);
  EXPECT_EQ(again, 2u);
  EXPECT_NEAR(gate.rows[0].ratio.value, 1.2, 0.03);
  EXPECT_FALSE(gate.passed());
}

TEST(Gate, ForgivesASlownessThatDoesNotRepeat) {
  int again = 0;
  const Gate gate =
      compare_with_baseline(make_sweep({make_run("hone", 10, 0.01, 1)}),
                            make_sweep({make_run("hone", 13, 0.01, 2)}), 0.05, [&](const bench::Setup&) {
                              ++again;
                              return make_run("hone", 10, 0.01, 5);
                            });
  EXPECT_EQ(again, 1);
  EXPECT_EQ(gate.rows[0].outcome, Outcome::kWithin);
}

Run short_run(const std::string& backend, double center, uint64_t seed) {
  Run run = make_run(backend, center, 0.01, seed);
  run.rounds.resize(2);
  return run;
}

TEST(Gate, DoesNotPassWhatCannotBeTold) {
  const Sweep baseline = make_sweep({make_run("hone", 10, 0.01, 1)});
  Gate gate = compare_with_baseline(baseline, make_sweep({short_run("hone", 10, 2)}), 0.05, never);
  EXPECT_EQ(gate.rows[0].outcome, Outcome::kUnknown);
  EXPECT_THAT(gate.rows[0].sentence,
              HasSubstr("(too few rounds for an interval): 10 in the baseline, 2 now"));
  EXPECT_FALSE(gate.passed());
  const auto again = [](const bench::Setup&) { return short_run("hone", 12, 3); };
  gate = compare_with_baseline(baseline, make_sweep({make_run("hone", 12, 0.01, 2)}), 0.05, again);
  EXPECT_EQ(gate.rows[0].outcome, Outcome::kUnknown) << "a suspicion that was not looked into";
  EXPECT_EQ(gate.rows[0].confirmations, 1);
}

TEST(Gate, RefusesABaselineOfOtherShapes) {
  Sweep baseline = make_sweep({make_run("hone", 10, 0.01, 1)});
  Sweep now = make_sweep({make_run("hone", 10, 0.01, 2)});
  baseline.context["input_shapes"] = {{"net", "ids 1x8"}};
  // Sweeps of before recorded none.
  require_comparable(baseline, now);
  now.context["input_shapes"] = {{"net", "ids 1x8"}};
  require_comparable(baseline, now);
  now.context["input_shapes"] = {{"net", "ids 1x128"}};
  EXPECT_THAT([&] { require_comparable(baseline, now); },
              ThrowsMessage<Error>(
                  StrEq("net hone fp32 batch 1: the inputs of the baseline are ids 1x8, those of this "
                        "sweep ids 1x128; such times cannot be compared (--shapes and --dim choose "
                        "the shapes)")));
}

TEST(Gate, SaysWhatTheBaselineDidNotMeasure) {
  EXPECT_THAT(
      [] {
        require_comparable(make_sweep({make_failed("hone")}), make_sweep({make_run("hone", 10, 0.01, 1)}));
      },
      ThrowsMessage<Error>(StrEq("the baseline has no times of a configuration: net hone fp32 batch "
                                 "1 failed then: crashed")));
}

TEST(Gate, RefusesAGpuThatIsNotKnown) {
  Sweep baseline = make_sweep({make_run("hone", 10, 0.01, 1)});
  baseline.context["gpu"] = {{"name", "a GPU"}};
  baseline.runs[0].setup.device = "cuda";
  Sweep now = baseline;
  now.context.erase("gpu");
  EXPECT_NO_THROW(require_comparable(baseline, now));
  EXPECT_THAT([&] { compare_with_baseline(baseline, now, 0.05, never); },
              ThrowsMessage<Error>(HasSubstr("which GPU this is is unknown")));
}

TEST(Gate, DoesNotFailOnNoise) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Gate gate =
        compare_with_baseline(make_sweep({make_run("hone", 10, 0.2, 100 + seed)}),
                              make_sweep({make_run("hone", 10, 0.2, 200 + seed)}), 0.05,
                              [&](const bench::Setup&) { return make_run("hone", 10, 0.2, 300 + seed); });
    EXPECT_TRUE(gate.passed()) << "seed " << seed;
  }
}

TEST(Gate, AllowsARegressionWithinTheLimit) {
  const Gate gate = compare_with_baseline(make_sweep({make_run("hone", 10, 0.001, 1)}),
                                          make_sweep({make_run("hone", 10.4, 0.001, 2)}), 0.05, never);
  EXPECT_EQ(gate.rows[0].outcome, Outcome::kWithin);
}

TEST(Gate, FailsOnARowThatFailsNow) {
  const Gate gate = compare_with_baseline(make_sweep({make_run("hone", 10, 0.01, 1)}),
                                          make_sweep({make_failed("hone")}), 0.05, never);
  EXPECT_EQ(gate.rows[0].outcome, Outcome::kFailed);
  EXPECT_FALSE(gate.passed());
}

TEST(Gate, IgnoresRowsThatFailedInTheBaselineAndNamesThoseAbsent) {
  const Sweep baseline =
      make_sweep({make_run("hone", 10, 0.01, 1), make_failed("torch"), make_run("onnxruntime", 9, 0.01, 3)});
  const Gate gate = compare_with_baseline(baseline, make_sweep({make_run("hone", 10, 0.01, 4)}), 0.05, never);
  ASSERT_EQ(gate.rows.size(), 2u);
  EXPECT_EQ(gate.rows[1].outcome, Outcome::kAbsent);
  EXPECT_TRUE(gate.passed());
}

TEST(Gate, RefusesToCompareWhatCannotBeCompared) {
  const Sweep baseline = make_sweep({make_run("hone", 10, 0.01, 1)});
  Sweep other_machine = make_sweep({make_run("hone", 10, 0.01, 2)});
  other_machine.context["cpu"] = "another processor";
  EXPECT_THROW(compare_with_baseline(baseline, other_machine, 0.05, never), Error);
  Sweep other_threads = make_sweep({make_run("hone", 10, 0.01, 2)});
  other_threads.runs[0].setup.threads = 1;
  EXPECT_THROW(compare_with_baseline(baseline, other_threads, 0.05, never), Error);
  Sweep other_device = make_sweep({make_run("hone", 10, 0.01, 2)});
  other_device.runs[0].setup.device = "cuda";
  EXPECT_THROW(compare_with_baseline(baseline, other_device, 0.05, never), Error);
  Sweep other_way = make_sweep({make_run("hone", 10, 0.01, 2)});
  other_way.runs[0].setup.device = "cuda";
  Sweep with_transfers = other_way;
  with_transfers.runs[0].setup.transfers = true;
  EXPECT_THROW(compare_with_baseline(other_way, with_transfers, 0.05, never), Error);
  Sweep cold = make_sweep({make_run("hone", 10, 0.01, 2)});
  cold.runs[0].setup.cold_l2 = true;
  EXPECT_THROW(compare_with_baseline(baseline, cold, 0.05, never), Error);
  Sweep first_gpu = baseline;
  first_gpu.context["gpu"] = {{"name", "one"}};
  Sweep second_gpu = baseline;
  second_gpu.context["gpu"] = {{"name", "another"}};
  EXPECT_THROW(compare_with_baseline(first_gpu, second_gpu, 0.05, never), Error);
  EXPECT_TRUE(compare_with_baseline(first_gpu, first_gpu, 0.05, never).passed());
  EXPECT_TRUE(compare_with_baseline(baseline, first_gpu, 0.05, never).passed())
      << "an older file names no GPU";
  Sweep nonsense = baseline;
  nonsense.context = {{"cpu", 7}, {"gpu", "x"}};
  EXPECT_THROW(compare_with_baseline(nonsense, first_gpu, 0.05, never), Error);
  const Sweep other_backend = make_sweep({make_run("torch", 10, 0.01, 2)});
  EXPECT_THROW(compare_with_baseline(baseline, other_backend, 0.05, never), Error);
}

TEST(Gate, IgnoresTransfersOnTheCpuWhereThereAreNone) {
  const Sweep without = make_sweep({make_run("hone", 10, 0.01, 1)});
  Sweep with = make_sweep({make_run("hone", 10, 0.01, 2)});
  with.runs[0].setup.transfers = true;
  EXPECT_TRUE(compare_with_baseline(without, with, 0.05, never).passed());
  EXPECT_TRUE(compare_with_baseline(with, without, 0.05, never).passed());
  Sweep cold = with;
  cold.runs[0].setup.cold_l2 = true;
  EXPECT_THROW(compare_with_baseline(without, cold, 0.05, never), Error);
}

TEST(Gate, RefusesASweepThatIsOnlyPlanned) {
  const Sweep baseline = make_sweep({make_run("hone", 10, 0.01, 1), make_failed("torch")});
  Sweep planned = make_sweep({make_run("torch", 10, 0.01, 2), make_run("hone", 10, 0.01, 2)});
  for (bench::Run& run : planned.runs) run.rounds.clear();
  EXPECT_NO_THROW(require_comparable(baseline, planned));
  Sweep other_threads = planned;
  other_threads.runs[0].setup.threads = 1;
  EXPECT_NO_THROW(require_comparable(baseline, other_threads)) << "the baseline has no times of torch";
  other_threads.runs[1].setup.threads = 1;
  EXPECT_THROW(require_comparable(baseline, other_threads), Error);
  Sweep only_failed = planned;
  only_failed.runs.pop_back();
  EXPECT_THROW(require_comparable(baseline, only_failed), Error);
}

TEST(Gate, KnowsAModelUnderAnotherSpelling) {
  Sweep baseline = make_sweep({make_run("hone", 10, 0.01, 1)});
  baseline.runs[0].setup.model = "./nets/../net.onnx";
  Sweep now = make_sweep({make_run("hone", 12, 0.01, 2)});
  now.runs[0].setup.model = "net.onnx";
  const Gate gate = compare_with_baseline(baseline, now, 0.05, [](const bench::Setup& setup) {
    EXPECT_EQ(setup.model, "net.onnx") << "the file that is here now";
    return make_run("hone", 12, 0.01, 3);
  });
  EXPECT_EQ(gate.rows[0].outcome, Outcome::kRegressed);
}

TEST(Gate, NamesBothModelsWhenNothingMatches) {
  const Sweep baseline = make_sweep({make_run("hone", 10, 0.01, 1)});
  Sweep now = make_sweep({make_run("hone", 10, 0.01, 2), make_run("torch", 10, 0.01, 2)});
  for (bench::Run& run : now.runs) run.setup.model = "other";
  try {
    compare_with_baseline(baseline, now, 0.05, never);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_STREQ(error.what(),
                 "the baseline and this sweep have no configuration in common: it has net hone fp32 batch 1, "
                 "this sweep other hone fp32 batch 1 and 1 more");
  }
}

TEST(ParseShare, ReadsPercentAndFraction) {
  EXPECT_DOUBLE_EQ(parse_share("5%"), 0.05);
  EXPECT_DOUBLE_EQ(parse_share("0.1"), 0.1);
  for (const char* bad : {"", "%", "five", "-1%", "5%%", "nan", "inf", "inf%"})
    EXPECT_THROW(parse_share(bad), Error) << bad;
}

TEST(ParseShare, TakesNoNumberOfPerCentForAFactor) {
  EXPECT_DOUBLE_EQ(parse_share("500%"), 5);
  EXPECT_DOUBLE_EQ(parse_share("0.999"), 0.999);
  for (const char* bad : {"1", "5", "1e2"}) {
    try {
      parse_share(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_NE(std::string(error.what()).find("neither in per cent nor below 1"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace hone::bench
