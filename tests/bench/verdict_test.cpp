// Every rule of the verdict, once firing and once not.
#include "bench/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// 10 rounds of 4 samples at 10 ms, a percent up and down.
VerdictInput good_run() {
  VerdictInput input;
  input.rounds.assign(10, {10.0, 10.1, 9.9, 10.0});
  input.threads = 2;
  input.cores = 2;
  input.interference.capacity_s = 10;
  return input;
}

TEST(Verdict, AcceptsAGoodRun) {
  const Verdict verdict = judge(good_run());
  EXPECT_TRUE(verdict.valid);
  EXPECT_THAT(verdict.reasons, IsEmpty());
}

TEST(Verdict, CountsSamplesForThePercentile) {
  VerdictInput input = good_run();
  input.percentile = 0.9;  // needs 29, has 40
  EXPECT_TRUE(judge(input).valid);
  input.percentile = 0.95;
  EXPECT_THAT(judge(input).reasons, ElementsAre("40 samples are too few for p95, which needs 59"));
}

TEST(Verdict, RefusesARunWithoutSamples) {
  VerdictInput input = good_run();
  input.rounds.clear();
  EXPECT_THAT(judge(input).reasons, ElementsAre(HasSubstr("0 samples are too few")));
}

TEST(Verdict, SeesHighVariance) {
  VerdictInput input = good_run();
  input.rounds.assign(10, {8.0, 10.0, 12.0, 10.0, 8.0, 12.0});
  EXPECT_THAT(judge(input).reasons, ElementsAre(HasSubstr("high variance")));
  input.rounds.assign(10, {9.6, 10.0, 10.4, 10.0, 9.6, 10.4});
  EXPECT_TRUE(judge(input).valid);
}

TEST(Verdict, SeesDriftBeyondTheNoise) {
  VerdictInput input = good_run();
  for (size_t i = 5; i < 10; ++i) input.rounds[i] = {10.5, 10.6, 10.4, 10.5};
  EXPECT_THAT(judge(input).reasons, ElementsAre(HasSubstr("drift: the second half is 5.0 % slower")));
  for (size_t i = 5; i < 10; ++i) input.rounds[i] = {10.2, 10.3, 10.1, 10.2};
  EXPECT_TRUE(judge(input).valid) << "2 % is below what matters";
}

TEST(Verdict, DoesNotCallNoiseADrift) {
  VerdictInput input = good_run();
  // Rounds jump by up to 8 % in both halves; the means of the halves differ by 4 %.
  const double levels[] = {9.6, 10.3, 9.7, 10.4, 9.5, 10.1, 10.6, 9.9, 10.7, 10.2};
  for (size_t i = 0; i < 10; ++i) input.rounds[i].assign(4, levels[i]);
  EXPECT_TRUE(judge(input).valid);
}

TEST(Verdict, SeesOtherProcesses) {
  VerdictInput input = good_run();
  input.interference.other_s = 0.4;
  EXPECT_TRUE(judge(input).valid);
  input.interference.other_s = 3;
  EXPECT_THAT(judge(input).reasons, ElementsAre(HasSubstr("other processes used 30 % of the CPU")));
  input.interference.capacity_s = 0.1;  // too short for the ticks of /proc/stat
  EXPECT_TRUE(judge(input).valid);
}

TEST(Verdict, SeesStolenTime) {
  VerdictInput input = good_run();
  input.interference.steal_s = 0.1;
  EXPECT_TRUE(judge(input).valid);
  input.interference.steal_s = 1;
  EXPECT_THAT(judge(input).reasons, ElementsAre(HasSubstr("the hypervisor took 10 %")));
}

TEST(Verdict, SeesThrottling) {
  VerdictInput input = good_run();
  input.interference.throttle_events = 3;
  EXPECT_THAT(judge(input).reasons, ElementsAre(HasSubstr("throttled 3 times")));
}

TEST(Verdict, SeesTooManyThreads) {
  VerdictInput input = good_run();
  input.threads = 4;
  EXPECT_THAT(judge(input).reasons, ElementsAre("4 threads share 2 cores"));
}

TEST(Verdict, SeesARunThatNeverWarmedUp) {
  VerdictInput input = good_run();
  input.warm = false;
  EXPECT_THAT(judge(input).reasons, ElementsAre(HasSubstr("still changing")));
}

TEST(Verdict, SeesOutputsThatAreNoNumbers) {
  VerdictInput input = good_run();
  input.outputs_finite = false;
  EXPECT_THAT(judge(input).reasons, ElementsAre(HasSubstr("NaN")));
}

TEST(Verdict, OutputsFarFromTheReferenceAreWrong) {
  VerdictInput input = good_run();
  input.precision = tensor::Precision::kFp16;
  input.error = 2e-3;
  EXPECT_TRUE(judge(input).valid);
  input.error = 0.31;
  EXPECT_THAT(judge(input).reasons,
              ElementsAre("the outputs are wrong: 3.1e-01 off the fp32 reference, more than fp16 explains "
                          "(limit 1e-01)"));
  input.precision = tensor::Precision::kFp32;
  input.error = 2e-3;
  EXPECT_FALSE(judge(input).valid);
}

TEST(Verdict, GivesEveryReason) {
  VerdictInput input = good_run();
  input.warm = false;
  input.threads = 4;
  input.percentile = 0.99;
  EXPECT_EQ(judge(input).reasons.size(), 3u);
}

}  // namespace
}  // namespace hone::bench
