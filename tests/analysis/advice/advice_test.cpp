// Rules about idle time, kernels and the trace itself; the list as a whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "analysis/advice_support.hpp"
#include "support/random_trace.hpp"

namespace hone::analysis {
namespace {

using support::CopyDirection;
using support::HostKind;
using support::TraceBuilder;
using ::testing::HasSubstr;

TEST(AdviceLongGaps, LeaveOutTheProfilersOwn) {
  const auto trace = [](bool profiler) {
    TraceBuilder b;
    b.kernel("a", 0, 1'000'000);
    b.kernel("b", 2'000'000, 9'000'000);
    if (profiler) b.host(HostKind::kOverhead, "Buffer Flush", 900'000, 2'100'000);
    return b;
  };
  TraceBuilder idle = trace(false);
  idle.host(HostKind::kRange, "everything", 0, 9'000'000);
  idle.op("decode", 900'000, 1'800'000);
  const auto advice = advice_of(idle, "long-gaps");
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->gain, 1e6);
  EXPECT_THAT(all_text(*advice),
              HasSubstr("GPU 0 idle for 1.000 ms; the host was in decode for 800.0 us of it"));
  TraceBuilder flushing = trace(true);
  EXPECT_FALSE(advice_of(flushing, "long-gaps").has_value());
}

TEST(AdviceLongGaps, OfSeveralGpusAtOnceAreSavedOnce) {
  const auto trace = [](Time pause_of_second) {
    TraceBuilder b;
    for (const int device : {0, 1}) {
      b.on_device(device).kernel("a", 0, 1'000'000);
      b.kernel("b", 1'000'000 + (device == 0 ? 1'000'000 : pause_of_second), 9'000'000);
    }
    return b;
  };
  TraceBuilder both = trace(1'000'000);
  EXPECT_EQ(advice_of(both, "long-gaps").value().gain, 1e6);
  TraceBuilder one = trace(0);  // the other works all the time
  EXPECT_FALSE(advice_of(one, "long-gaps").has_value());
}

TEST(AdviceIdlePhases, OfAGpuThatIsBusyAsARule) {
  const auto trace = [](Time pause) {
    TraceBuilder b;
    for (Time start = 0; start < 30'000; start += 100) {
      if (start < 6'000 || start >= 6'000 + pause) b.kernel("k", start, start + 90);
    }
    return b;
  };
  TraceBuilder paused = trace(2'000);  // two of thirty chunks
  const auto advice = advice_of(paused, "idle-phases");
  ASSERT_TRUE(advice.has_value());
  EXPECT_NEAR(advice->gain, 2'000, 30);
  ASSERT_EQ(advice->evidence.size(), 1U);
  EXPECT_NEAR(static_cast<double>(length(advice->evidence[0].place)), 2'000, 30);
  TraceBuilder steady = trace(200);
  EXPECT_FALSE(advice_of(steady, "idle-phases").has_value());
  TraceBuilder mostly_idle = trace(20'000);
  EXPECT_FALSE(advice_of(mostly_idle, "idle-phases").has_value());
  for (int i = 0; i < 6; ++i) paused.step("step", 5'000 * i, 5'000 * (i + 1));  // each longer than the pause
  EXPECT_FALSE(advice_of(paused, "idle-phases").has_value());
}

TEST(AdviceLaunchBound, TinyKernelsOutsideGraphs) {
  const auto trace = [](Time duration, int64_t graph) {
    TraceBuilder b;
    for (int i = 0; i < 40; ++i) {
      const Time start = 20'000 * i;
      b.api("cudaLaunchKernel", start, start + 6'000, i + 1);
      b.kernel("relu", start + 5'000, start + 5'000 + duration, i + 1).graph = graph;
    }
    return b;
  };
  TraceBuilder tiny = trace(4'000, support::kNone);
  const auto advice = advice_of(tiny, "launch-bound");
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->gain, 39 * 16'000);
  EXPECT_THAT(all_text(*advice),
              HasSubstr("40 kernels outside CUDA graphs, 40 of them shorter than 10.00 us; 39 "));
  TraceBuilder in_a_graph = trace(4'000, 1);
  EXPECT_FALSE(advice_of(in_a_graph, "launch-bound").has_value());
  TraceBuilder large = trace(15'000, support::kNone);
  EXPECT_FALSE(advice_of(large, "launch-bound").has_value());
  TraceBuilder without_calls = trace(4'000, support::kNone);
  without_calls.trace.host_events.clear();
  EXPECT_TRUE(is_unjudged(without_calls, "launch-bound"));
}

TEST(AdviceCopiesBesideKernels, WhereBothCouldRun) {
  const auto trace = [](Time copy_start) {
    TraceBuilder b;
    b.copy(CopyDirection::kHostToDevice, 1 << 20, copy_start, copy_start + 300);
    b.kernel("k", 300, 1000);
    return b;
  };
  TraceBuilder after = trace(0);
  EXPECT_EQ(advice_of(after, "copies-beside-kernels").value().gain, 300);
  TraceBuilder beside = trace(400);
  EXPECT_FALSE(advice_of(beside, "copies-beside-kernels").has_value());
}

bool kernels_fire(const char* rule, const std::vector<std::pair<const char*, Time>>& kernels) {
  TraceBuilder b;
  b.properties("GPU");
  Time now = 0;
  for (const auto& [name, duration] : kernels) {
    b.kernel(name, now, now + duration);
    now += duration;
  }
  return advice_of(b, rule).has_value();
}

TEST(AdviceConversions, ByTheirShare) {
  EXPECT_TRUE(kernels_fire("conversions", {{"void cudnn::ops::nchwToNhwcKernel<float>(int)", 80},
                                           {"void cudnn::ops::nhwcToNchwKernel<float>(int)", 20},
                                           {"gemm", 900}}));
  EXPECT_FALSE(
      kernels_fire("conversions", {{"void cudnn::ops::nchwToNhwcKernel<float>(int)", 20}, {"gemm", 980}}));
  EXPECT_FALSE(kernels_fire("conversions", {{"broadcast_add", 500}, {"conv_transpose_fprop", 500}}));
}

TEST(AdviceHalfPrecision, WhenTensorCoresRunOnlyTf32) {
  EXPECT_TRUE(kernels_fire("half-precision",
                           {{"sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128", 500}, {"relu", 500}}));
  EXPECT_FALSE(kernels_fire("half-precision", {{"sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128", 500},
                                               {"ampere_fp16_s16816gemm_fp16_128x64", 100}}));
  EXPECT_FALSE(kernels_fire("half-precision", {{"ampere_sgemm_128x64_nn", 900}}));  // another rule's
  EXPECT_FALSE(kernels_fire("half-precision", {{"sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128", 100},
                                               {"void convert_kernel<float, int>(int)", 900}}));
}

TEST(AdviceLowOccupancy, OfKernelsThatMatter) {
  const auto fires = [](const char* name, int32_t blocks, double occupancy) {
    TraceBuilder b;
    b.properties("GPU").multiprocessors = 100;
    b.kernel(name, 0, 900);
    b.launch().grid = {blocks, 1, 1};
    b.trace.launches.back().recorded_occupancy = occupancy;
    b.kernel("tiny", 900, 910);
    b.launch().grid = {1, 1, 1};
    return advice_of(b, "low-occupancy");
  };
  const auto few_blocks = fires("reduce", 20, 90);
  ASSERT_TRUE(few_blocks.has_value());
  EXPECT_DOUBLE_EQ(few_blocks->gain, 900 * 0.8);
  EXPECT_EQ(few_blocks->evidence.size(), 1U);
  EXPECT_THAT(all_text(*few_blocks), HasSubstr("its blocks reach 20.0 % of the multiprocessors"));
  EXPECT_EQ(fires("reduce", 400, 10).value().gain, 0);
  EXPECT_FALSE(fires("reduce", 400, 60).has_value());
  EXPECT_FALSE(fires("nvjet_hsh_64x8", 400, 10).has_value());
  TraceBuilder unknown;
  unknown.kernel("k", 0, 100);
  EXPECT_TRUE(is_unjudged(unknown, "low-occupancy"));
}

TEST(AdviceLowOccupancy, OfKernelsSideBySideSavesTheirTimeOnce) {
  TraceBuilder b;
  b.properties("GPU").multiprocessors = 100;
  for (const int64_t stream : {7, 8}) {
    b.on_stream(stream).kernel("reduce", 0, 900);
    b.launch().grid = {1, 1, 1};
  }
  EXPECT_LE(advice_of(b, "low-occupancy").value().gain, 900);
}

TEST(AdviceTensorCores, OfOperatorsInTheSteps) {
  const auto trace = [](bool in_step) {
    TraceBuilder b;
    b.properties("GPU");
    const Time at = in_step ? 1000 : 0;
    b.op("aten::mm", at, at + 100);
    b.api("cudaLaunchKernel", at + 10, at + 20, 1);
    b.kernel("ampere_sgemm_128x64_nn", at + 20, at + 900, 1);
    b.step("ProfilerStep#0", 1000, 2000);
    b.op("aten::relu", 1500, 1600);
    b.api("cudaLaunchKernel", 1510, 1520, 2);
    b.kernel("relu", 1950, 1990, 2);
    return b;
  };
  TraceBuilder before = trace(false);
  EXPECT_FALSE(advice_of(before, "tensor-cores").has_value());
  TraceBuilder inside = trace(true);
  EXPECT_TRUE(advice_of(inside, "tensor-cores").has_value());
}

TEST(AdviceProfilerOverhead, FromFivePercentOn) {
  const auto fires = [](Time overhead) {
    TraceBuilder b;
    b.step("ProfilerStep#0", 0, 1000);
    b.host(HostKind::kOverhead, "Buffer Flush", 100, 100 + overhead);
    return advice_of(b, "profiler-overhead");
  };
  const auto advice = fires(100);
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->gain, 0);
  EXPECT_FALSE(fires(40).has_value());
  TraceBuilder drivers;
  drivers.step("ProfilerStep#0", 0, 1000);
  drivers.host(HostKind::kOverhead, "Command Buffer Full", 100, 900);
  EXPECT_FALSE(advice_of(drivers, "profiler-overhead").has_value());
}

TEST(AdviceWarmUp, WhenTheFirstStepStandsOut) {
  const auto fires = [](Time first, int steps) {
    TraceBuilder b;
    b.step("ProfilerStep#0", 0, first);
    for (int i = 1; i < steps; ++i) b.step("ProfilerStep", first + 1000 * (i - 1), first + 1000 * i);
    return advice_of(b, "warm-up");
  };
  EXPECT_TRUE(fires(5000, 5).has_value());
  EXPECT_FALSE(fires(1200, 5).has_value());
  EXPECT_FALSE(fires(5000, 3).has_value());  // too few to tell
}

TEST(AdviceWarmUp, CountsStepsAsTheTraceDoes) {
  TraceBuilder b;
  b.step("ProfilerStep#0", 0, 500);
  b.step("ProfilerStep#1", 500, 5500);
  for (int i = 0; i < 4; ++i) b.step("ProfilerStep", 5500 + 1000 * i, 6500 + 1000 * i);
  AnalyzeOptions options;
  options.first_step = 1;
  const AdviceList list = analyze(b.build(), options).advice;
  const auto found = std::find_if(list.advice.begin(), list.advice.end(),
                                  [](const Advice& advice) { return advice.rule == "warm-up"; });
  ASSERT_NE(found, list.advice.end());
  EXPECT_THAT(found->action, HasSubstr("--steps 2:"));
}

TEST(Advice, NothingToSayIsAnAnswer) {
  TraceBuilder b;
  b.properties("GPU");
  b.kernel("nvjet_hsh_128", 0, 1'000'000);
  const AdviceList list = analyze(b.build()).advice;
  EXPECT_TRUE(list.advice.empty());
  EXPECT_EQ(list.rules, 20);
  EXPECT_TRUE(to_json(list)["advice"].is_array());
  EXPECT_TRUE(analyze(trace::Trace{}).advice.advice.empty());
}

TEST(Advice, OfRandomTracesKeepsToTheWindow) {
  base::Random random(9);
  for (int round = 0; round < 200; ++round) {
    const trace::Trace trace = support::random_trace(random, random.below(6));
    const AdviceList list = analyze(trace).advice;
    std::set<std::string> names;
    double previous = std::numeric_limits<double>::infinity();
    for (const Advice& advice : list.advice) {
      EXPECT_TRUE(names.insert(advice.rule).second);
      EXPECT_FALSE(advice.problem.empty() || advice.action.empty() || advice.evidence.empty()) << advice.rule;
      EXPECT_GE(advice.gain, 0) << advice.rule;
      EXPECT_LE(advice.gain, previous);
      EXPECT_LE(advice.gain, static_cast<double>(length(list.window))) << advice.rule;
      previous = advice.gain;
    }
  }
}

}  // namespace
}  // namespace hone::analysis
