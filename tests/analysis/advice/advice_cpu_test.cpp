// Rules about a model that ran on the CPU: each with a trace that fires it and one that does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice_support.hpp"
#include "trace/cpu_roof.hpp"

namespace hone::analysis {
namespace {

using support::HostKind;
using support::TraceBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

/// Fifty iterations of layers that run one after the other, on a CPU whose roof is 100 GFLOP/s in fp32, 200
/// in bf16, and 10 GB/s.
class CpuTrace {
 public:
  struct LayerOf {
    const char* name;
    const char* kind;
    const char* tactic;
    Time time;  ///< ns
    double flops = 0;
    double bytes = 0;
  };

  explicit CpuTrace(const std::vector<LayerOf>& layers, const char* precision = "fp32", int threads = 1) {
    auto& metadata = builder_.trace.metadata;
    metadata = {
        {"device", "cpu"}, {"precision", precision}, {"batch", "1"}, {"threads", std::to_string(threads)}};
    trace::CpuRoof roof;
    roof.flops_per_second = {{"fp32", 100e9}, {"bf16", 200e9}};
    roof.levels = {{0, 10e9}};
    trace::describe_roof(builder_.trace, roof);
    for (const LayerOf& layer : layers) {
      trace::ModelStep step;
      step.name = builder_.trace.strings.intern(layer.name);
      step.kind = builder_.trace.strings.intern(layer.kind);
      step.tactic = builder_.trace.strings.intern(layer.tactic);
      step.flops = layer.flops;
      step.bytes = layer.bytes;
      builder_.trace.model_steps.push_back(step);
    }
    Time now = 0;
    for (int i = 0; i < 50; ++i) {
      const Time start = now;
      for (const LayerOf& layer : layers) {
        builder_.host(HostKind::kEngineStep, layer.name, now, now + layer.time);
        now += layer.time;
      }
      builder_.step("ProfilerStep#" + std::to_string(i), start, now);
    }
  }

  TraceBuilder& builder() { return builder_; }
  AdviceList list() { return analyze(builder_.build()).advice; }
  std::optional<Advice> advice(std::string_view rule) { return advice_of(builder_, rule); }

 private:
  TraceBuilder builder_;
};

TEST(AdviceOnTheCpu, AsksNoRuleOfAGpu) {
  CpuTrace trace({{"conv", "Conv", "onednn", 1'000'000, 90e6, 1e6}});
  const AdviceList list = trace.list();
  EXPECT_EQ(list.rules, 11);
  for (const Unjudged& rule : list.unjudged) EXPECT_THAT(rule.reason, Not(HasSubstr("GPU"))) << rule.rule;
}

TEST(AdviceOnTheCpu, NamesLayersOnTheReferenceWithTheirCost) {
  CpuTrace trace(
      {{"conv", "Conv", "onednn", 900'000, 80e6, 1e6}, {"nms", "NonZero", "reference", 100'000, 0, 1e5}});
  const auto advice = trace.advice("reference-kernels");
  ASSERT_TRUE(advice.has_value());
  EXPECT_THAT(all_text(*advice),
              HasSubstr("1 of 2 layers run on it: 100.0 us, 10.0 % of the time of all layers"));
  EXPECT_THAT(all_text(*advice), HasSubstr("nms: 100.0 us (NonZero)"));
  EXPECT_NEAR(advice->gain, 50 * (100'000 - 10'000), 1);
  CpuTrace without(
      {{"conv", "Conv", "onednn", 900'000, 80e6, 1e6}, {"nms", "NonZero", "reference", 900, 0, 1e3}});
  EXPECT_FALSE(without.advice("reference-kernels").has_value());
}

TEST(AdviceOnTheCpu, CountsReorders) {
  CpuTrace trace(
      {{"conv", "Conv", "onednn", 900'000, 80e6, 1e6}, {"x as nchw", "Reorder", "reorder", 100'000, 0, 1e6}});
  const auto advice = trace.advice("reorders");
  ASSERT_TRUE(advice.has_value());
  EXPECT_THAT(all_text(*advice), HasSubstr("1 of 2 layers are reorders: 100.0 us, 10.0 %"));
  EXPECT_NEAR(advice->gain, 50 * 100'000, 1);
  CpuTrace few(
      {{"conv", "Conv", "onednn", 990'000, 80e6, 1e6}, {"x as nchw", "Reorder", "reorder", 10'000, 0, 1e5}});
  EXPECT_FALSE(few.advice("reorders").has_value());
}

TEST(AdviceOnTheCpu, SeesBatchNormalizationsThatWereNotFolded) {
  CpuTrace trace(
      {{"conv", "Conv", "onednn", 900'000, 80e6, 1e6}, {"bn", "BatchNormalization", "map", 90'000, 0, 1e6}});
  EXPECT_TRUE(trace.advice("batch-norms").has_value());
  CpuTrace folded({{"conv + bn", "Conv", "onednn", 900'000, 80e6, 1e6}});
  EXPECT_FALSE(folded.advice("batch-norms").has_value());
}

TEST(AdviceOnTheCpu, TellsMemoryFromArithmetic) {
  // 5 MB take 500 us at 10 GB/s.
  CpuTrace trace(
      {{"add", "Add", "map", 600'000, 1e6, 5e6}, {"conv", "Conv", "onednn", 1'000'000, 90e6, 1e6}});
  const auto advice = trace.advice("memory-bound");
  ASSERT_TRUE(advice.has_value());
  EXPECT_THAT(all_text(*advice), HasSubstr("add: 600.0 us at 8.333 GB/s, 1.2x its floor"));
  EXPECT_THAT(all_text(*advice),
              HasSubstr("measured on this CPU with 1 thread: 100 GFLOP/s in fp32, 10.00 GB/s"));
  EXPECT_NEAR(advice->gain, 50 * 300'000, 1);
  CpuTrace arithmetic({{"conv", "Conv", "onednn", 1'000'000, 90e6, 1e6}});
  EXPECT_FALSE(arithmetic.advice("memory-bound").has_value());
}

TEST(AdviceOnTheCpu, SeesLayersFarFromTheRoof) {
  CpuTrace trace({{"conv", "Conv", "onednn", 1'000'000, 10e6, 1e5}});
  const auto advice = trace.advice("far-from-roof");
  ASSERT_TRUE(advice.has_value());
  EXPECT_THAT(all_text(*advice), HasSubstr("conv: 1.000 ms, 10.0x its floor (onednn)"));
  EXPECT_NEAR(advice->gain, 50 * 900'000, 1);
  CpuTrace near({{"conv", "Conv", "onednn", 1'000'000, 50e6, 1e5}});
  EXPECT_FALSE(near.advice("far-from-roof").has_value());
}

TEST(AdviceOnTheCpu, SeesWeightsThatAreReadForOneInput) {
  CpuTrace trace({{"fc", "Gemm", "onednn", 600'000, 2.5e6, 5e6}});
  EXPECT_TRUE(trace.advice("small-batch").has_value());
  CpuTrace larger({{"fc", "Gemm", "onednn", 600'000, 2.5e6, 5e6}});
  larger.builder().trace.metadata["batch"] = "8";
  EXPECT_FALSE(larger.advice("small-batch").has_value());
}

TEST(AdviceOnTheCpu, OffersBf16WhereItMultipliesFaster) {
  CpuTrace trace({{"conv", "Conv", "onednn", 1'000'000, 90e6, 1e6}});
  const auto advice = trace.advice("wide-precision");
  ASSERT_TRUE(advice.has_value());
  EXPECT_THAT(all_text(*advice), HasSubstr("bf16 multiplies 2.0 times as fast"));
  EXPECT_NEAR(advice->gain, 50 * 500'000, 1);
  CpuTrace narrow({{"conv", "Conv", "onednn", 1'000'000, 90e6, 1e6}}, "bf16");
  EXPECT_FALSE(narrow.advice("wide-precision").has_value());
}

TEST(AdviceOnTheCpu, SeesLayersTooShortForManyThreads) {
  const std::vector<CpuTrace::LayerOf> layers = {{"a", "Relu", "map", 4'000}, {"b", "Relu", "map", 5'000}};
  EXPECT_TRUE(CpuTrace(layers, "fp32", 2).advice("many-threads").has_value());
  EXPECT_FALSE(CpuTrace(layers, "fp32", 1).advice("many-threads").has_value());
}

TEST(AdviceOnTheCpu, NeedsTheThreadsTimesToJudgeThem) {
  const std::vector<CpuTrace::LayerOf> layers = {{"conv", "Conv", "onednn", 1'000'000, 90e6, 1e6}};
  CpuTrace trace(layers, "fp32", 4);
  EXPECT_TRUE(is_unjudged(trace.builder(), "many-threads"));
  const auto use = [&](CpuTrace& of, int64_t threads) {
    trace::Trace& to = of.builder().trace;
    const trace::StringId counter = to.strings.intern("CPU time");
    const std::vector<trace::HostEvent> events = to.host_events;
    for (const trace::HostEvent& event : events) {
      if (event.kind != HostKind::kEngineStep) continue;
      for (int64_t thread = 1; thread <= threads; ++thread)
        to.thread_usages.push_back(
            {event.start, event.end, to.thread_index(1, thread), counter, event.end - event.start});
    }
  };
  use(trace, 2);
  const auto advice = trace.advice("many-threads");
  ASSERT_TRUE(advice.has_value());
  EXPECT_THAT(all_text(*advice), HasSubstr("2.0 of 4 threads were at work on average"));
  CpuTrace busy(layers, "fp32", 4);
  use(busy, 4);
  EXPECT_FALSE(busy.advice("many-threads").has_value());
  EXPECT_FALSE(is_unjudged(busy.builder(), "many-threads"));
}

TEST(AdviceOnTheCpu, WithoutARoofSaysWhatItCannotJudge) {
  CpuTrace trace({{"conv", "Conv", "onednn", 1'000'000, 10e6, 1e5}});
  trace.builder().trace.metadata.erase("cpu_roof");
  EXPECT_TRUE(is_unjudged(trace.builder(), "far-from-roof"));
  EXPECT_TRUE(is_unjudged(trace.builder(), "memory-bound"));
}

TEST(AdviceOnTheCpu, TrustsNoRoofOfABusyMachine) {
  CpuTrace recorded({{"conv", "Conv", "onednn", 1'000'000, 10e6, 1e5}});
  auto roof = trace::CpuRoof::of(recorded.builder().trace);
  ASSERT_TRUE(roof.has_value());
  roof->other_share = 0.7;
  trace::describe_roof(recorded.builder().trace, *roof);
  EXPECT_TRUE(is_unjudged(recorded.builder(), "far-from-roof"));
  EXPECT_FALSE(recorded.advice("far-from-roof").has_value());
}

}  // namespace
}  // namespace hone::analysis
