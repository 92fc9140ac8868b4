// Every rule of the verdict, once firing and once not.
#include "bench/results/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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

TEST(Verdict, ExpectsVarianceBesideBusyThreads) {
  VerdictInput input = good_run();
  input.disturbed = true;
  for (auto& round : input.rounds) {
    for (size_t i = 0; i < round.size(); i += 2) round[i] *= 1.5;
  }
  EXPECT_TRUE(judge(input).valid);
  input.interference.other_s = 5;
  EXPECT_FALSE(judge(input).valid) << "other load is none of the setup";
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
}

/// So that sweeps on two GPUs can go side by side.
TEST(Verdict, MindsFarCoresOnTheCpuAlone) {
  VerdictInput input = good_run();
  input.interference.near_s = 0.2;
  input.interference.other_s = 12;
  EXPECT_THAT(judge(input).reasons, ElementsAre(HasSubstr("other processes used 120 % of the CPU during")));
  const GpuConditions gpu;
  input.gpu = &gpu;
  EXPECT_TRUE(judge(input).valid);
  input.interference.near_s = 3;
  EXPECT_THAT(judge(input).reasons,
              ElementsAre(HasSubstr("other processes used 30 % of the CPU cores that hone may use during")));
}

/// A run of 0.2 s on two cores: 5 % are 20 ms, and three ticks of /proc/stat are let pass.
TEST(Verdict, SeesOthersInShortRunsBeyondTheTicks) {
  VerdictInput input = good_run();
  input.interference.capacity_s = 0.4;
  input.interference.other_s = 0.04;
  EXPECT_TRUE(judge(input).valid);
  input.interference.other_s = 0.06;
  EXPECT_THAT(judge(input).reasons, ElementsAre(HasSubstr("other processes used 15 % of the CPU")));
  input.interference.other_s = 0;
  input.interference.steal_s = 0.03;
  EXPECT_TRUE(judge(input).valid);
  input.interference.steal_s = 0.05;
  EXPECT_THAT(judge(input).reasons, ElementsAre(HasSubstr("the hypervisor took 12 %")));
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

/// Conditions of a GPU at this clock in each of twelve samples.
GpuConditions gpu_at(std::vector<int> clocks, uint64_t reasons = 0) {
  GpuConditions gpu;
  for (const int mhz : clocks) {
    system::GpuSample sample;
    sample.sm_mhz = mhz;
    sample.clock_reasons = reasons;
    gpu.add(sample, 0);
  }
  return gpu;
}

/// The reasons that a good run has on such a GPU.
std::vector<std::string> reasons_on(const GpuConditions& gpu) {
  VerdictInput input = good_run();
  input.gpu = &gpu;
  return judge(input).reasons;
}

TEST(Verdict, SeesOtherProcessesOnTheGpu) {
  GpuConditions gpu = gpu_at(std::vector<int>(12, 1980));
  EXPECT_THAT(reasons_on(gpu), IsEmpty()) << "processes that nobody lists are no reason";
  gpu.saw_processes(0, std::nullopt);
  EXPECT_THAT(reasons_on(gpu), IsEmpty());
  gpu.saw_processes(2, std::nullopt);
  EXPECT_THAT(reasons_on(gpu), ElementsAre("2 other processes had contexts on the GPU during the run"));
}

TEST(Verdict, SeesAGpuThatIsSlowedDown) {
  const std::vector<int> steady(12, 1980);
  for (const uint64_t reason : {0x8, 0x20, 0x40, 0x80})
    EXPECT_THAT(reasons_on(gpu_at(steady, reason)), ElementsAre(HasSubstr("the GPU was slowed down: ")))
        << reason;
  EXPECT_THAT(reasons_on(gpu_at(steady, 0x48)),
              ElementsAre("the GPU was slowed down: HW slowdown, HW thermal slowdown"));
  for (const uint64_t reason : {0x0, 0x1, 0x2, 0x4, 0x10, 0x100})
    EXPECT_THAT(reasons_on(gpu_at(steady, reason)), IsEmpty()) << reason;
}

TEST(Verdict, SeesAClockThatDrifts) {
  std::vector<int> clocks(12, 1980);
  std::fill(clocks.begin() + 6, clocks.end(), 1800);
  EXPECT_THAT(
      reasons_on(gpu_at(clocks)),
      ElementsAre("the GPU's clock changed: 1980 MHz in the first half, 1800 in the second (limit 3 %)"));
  std::fill(clocks.begin() + 6, clocks.end(), 1935);
  EXPECT_THAT(reasons_on(gpu_at(clocks)), IsEmpty()) << "2.3 % is within the limit";
  clocks.assign(12, 1980);
  clocks[3] = clocks[9] = 345;
  EXPECT_THAT(reasons_on(gpu_at(clocks)), IsEmpty()) << "one sample between two rounds is not the clock";
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

TEST(Verdict, AReferenceOfANarrowTypeExplainsItsOwnRounding) {
  VerdictInput input = good_run();
  input.error = 2e-3;
  EXPECT_FALSE(judge(input).valid);
  input.reference = tensor::Precision::kFp16;
  EXPECT_TRUE(judge(input).valid);
  input.precision = tensor::Precision::kBf16;
  input.error = 0.15;
  EXPECT_TRUE(judge(input).valid) << "the coarser of both counts";
  input.error = 0.31;
  EXPECT_THAT(judge(input).reasons,
              ElementsAre(HasSubstr("off the fp16 reference, more than bf16 explains")));
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
