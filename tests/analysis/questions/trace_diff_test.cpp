// Two recordings of one model: layers matched through different fusions, a waterfall that adds up, noise.
#include "analysis/questions/trace_diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"

namespace hone::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Layer layer(const char* name, const char* sources, const std::vector<double>& times) {
  Layer result;
  result.name = name;
  result.sources = sources;
  result.kernels = {{std::string("kernel of ") + name, 1}};
  result.time = base::summarize(times);
  return result;
}

/// Four layers on one side are two on the other: conv and relu fused, and two that swapped what they hold.
LayerTable separate() {
  LayerTable table;
  table.layers = {layer("conv", R"(["conv1"])", {100, 100, 100}), layer("relu", R"(["relu1"])", {20, 20, 20}),
                  layer("pool", R"(["pool"])", {30, 30, 30})};
  table.layer_sum = base::summarize({150, 150, 150});
  table.other_device = base::summarize({5, 5, 5});
  table.device_busy = base::summarize({155, 155, 155});
  table.iteration = base::summarize({400, 400, 400});
  return table;
}

LayerTable fused() {
  LayerTable table;
  table.layers = {layer("conv + relu", R"(["conv1", "relu1"])", {60, 60, 60}),
                  layer("pool", R"(["pool"])", {30, 31, 29}), layer("cast", R"(["cast"])", {4, 4, 4})};
  table.layer_sum = base::summarize({94, 95, 93});
  table.other_device = base::summarize({0, 0, 0});
  table.device_busy = base::summarize({90, 91, 89});
  table.iteration = base::summarize({100, 100, 100});
  return table;
}

TEST(TraceDiff, MatchesLayersThroughFusions) {
  const TraceDiff diff = compare_traces({separate()}, {fused()});
  ASSERT_EQ(diff.layers.size(), 3U);
  EXPECT_THAT(diff.layers[0].a, ElementsAre("conv", "relu"));
  EXPECT_THAT(diff.layers[0].b, ElementsAre("conv + relu"));
  EXPECT_THAT(diff.layers[0].kernels_a, ElementsAre("kernel of conv", "kernel of relu"));
  EXPECT_DOUBLE_EQ(diff.layers[0].change(), -60);
  EXPECT_TRUE(diff.layers[0].certain());
  EXPECT_THAT(diff.layers[1].a, IsEmpty());
  EXPECT_THAT(diff.layers[1].b, ElementsAre("cast"));
  EXPECT_THAT(diff.layers[2].a, ElementsAre("pool"));
  EXPECT_FALSE(diff.layers[2].certain());
  EXPECT_DOUBLE_EQ(diff.speedup_ratio().value(), 4);
}

double sum(const TraceDiff& diff) {
  double total = 0;
  for (const WaterfallBar& bar : diff.waterfall) total += bar.change;
  return total;
}

TEST(TraceDiff, TheWaterfallAddsUp) {
  const TraceDiff diff = compare_traces({separate()}, {fused()});
  EXPECT_NEAR(sum(diff), -300, 1e-9);
  EXPECT_NEAR(diff.waterfall[0].change, -56, 1e-9);
  EXPECT_NEAR(diff.waterfall[2].change, -4, 1e-9);
  EXPECT_NEAR(diff.waterfall[3].change, -235, 1e-9);
}

TEST(TraceDiff, TheWaterfallHasNoRoundingErrors) {
  LayerTable a = separate();
  a.layer_sum = base::summarize({0.3});
  a.other_device = base::summarize({0});
  a.device_busy = base::summarize({0.3});
  LayerTable b = a;
  b.layer_sum = base::summarize({0.1});
  b.other_device = base::summarize({0.2});
  const TraceDiff diff = compare_traces({a}, {b});
  EXPECT_EQ(diff.waterfall.at(2).name, "work of the device side by side");
  EXPECT_EQ(diff.waterfall.at(2).change, 0) << "0.3 - (0.1 + 0.2)";
}

TEST(TraceDiff, TheSlowerSideIsA) {
  EXPECT_TRUE(is_first({separate()}, {fused()}));
  EXPECT_FALSE(is_first({fused()}, {separate()}));
  EXPECT_TRUE(is_first({fused()}, {fused()}));
}

TEST(TraceDiff, SplitsIdleTimeByWhatTheDeviceWaitedFor) {
  const TraceDiff diff =
      compare_traces({separate(), IterationIdle{200, 10, 5, 3, 0}}, {fused(), IterationIdle{2, 4, 0, 1, 0}});
  ASSERT_EQ(diff.waterfall.size(), 9U);
  EXPECT_EQ(diff.waterfall[3].name, "device idle: launches");
  EXPECT_DOUBLE_EQ(diff.waterfall[3].change, -198);
  EXPECT_NEAR(diff.waterfall[8].change, -24, 1e-9);  // of the 235 that the device was idle for less
  EXPECT_NEAR(sum(diff), -300, 1e-9);
}

TEST(TraceDiff, TheWaterfallAddsUpForAnything) {
  base::Random random(7);
  for (int turn = 0; turn < 100; ++turn) {
    LayerTable a;
    LayerTable b;
    for (LayerTable* table : {&a, &b}) {
      for (base::Summary* part :
           {&table->layer_sum, &table->other_device, &table->device_busy, &table->iteration})
        *part = base::summarize({1e6 * random.uniform(), 1e6 * random.uniform()});
    }
    EXPECT_NEAR(sum(compare_traces({a}, {b})), b.iteration.mean - a.iteration.mean, 1e-6);
  }
}

TEST(TraceDiff, OneIterationDoesNotSayWhatNoiseIs) {
  LayerTable once;
  once.layers = {layer("conv", R"(["conv1"])", {50})};
  once.iteration = base::summarize({200});
  const TraceDiff diff = compare_traces({separate()}, {once});
  EXPECT_FALSE(diff.iteration_b.half_width);
  EXPECT_FALSE(differ(diff.iteration_a, diff.iteration_b));
  ASSERT_FALSE(diff.layers.empty());
  EXPECT_FALSE(diff.layers[0].certain());
  EXPECT_DOUBLE_EQ(diff.speedup_ratio().value(), 2);
}

TEST(TraceDiff, GivesNoRatioOverNothing) {
  EXPECT_FALSE(compare_traces({}, {fused()}).speedup());
  EXPECT_FALSE(compare_traces({fused()}, {}).speedup());
}

TEST(TraceDiff, PartsNoChangeFromOrToNothing) {
  EXPECT_TRUE(compare_traces({}, {fused()}).waterfall.empty());
  EXPECT_TRUE(compare_traces({fused()}, {}).waterfall.empty());
  EXPECT_TRUE(compare_traces({}, {}).waterfall.empty());
}

TEST(TraceDiff, PassesOnWhatWasLeftOutOfSteps) {
  const TraceDiff diff = compare_traces({separate(), {}, {"no steps were announced"}}, {fused()});
  EXPECT_THAT(diff.notes, ElementsAre("A: no steps were announced"));
}

TEST(TraceDiff, SaysWhatRecordingCostAndWhatElseDiffers) {
  DiffSide a{separate()};
  DiffSide b{fused()};
  a.recorded = {"resnet18", "cuda", "1", trace::RecordingCost{3.0, 6.0, std::nullopt, "+100.0 %"}};
  b.recorded = {"resnet18", "cuda", "8",
                trace::RecordingCost{0.75, 0.72, std::nullopt, "no difference beyond noise"}};
  EXPECT_THAT(
      compare_traces(a, b).notes,
      ElementsAre(
          "A and B are of different batches: 1 and 8",
          "The parts are times while recording, which cost: A +100.0 %, B no difference beyond noise. "
          "The speedup is of runs that were not recorded: 3.000 ms and 750.0 us."));
}

TEST(TraceDiff, HasOneSpeedupThatOfUndisturbedRuns) {
  DiffSide a{separate()};
  DiffSide b{fused()};
  const TraceDiff recorded = compare_traces(a, b);
  EXPECT_DOUBLE_EQ(recorded.speedup()->ratio, 4);
  EXPECT_FALSE(recorded.speedup_undisturbed());
  a.recorded.cost = trace::RecordingCost{3.0, 6.0, base::Interval{2.9, 3.1}, ""};
  b.recorded.cost = trace::RecordingCost{1.5, 1.6, base::Interval{1.45, 1.55}, ""};
  const TraceDiff plain = compare_traces(a, b);
  EXPECT_DOUBLE_EQ(plain.speedup()->ratio, 2);
  EXPECT_TRUE(plain.speedup_undisturbed());
  EXPECT_DOUBLE_EQ((*plain.speedup()->interval)[0], 2.9 / 1.55);
  EXPECT_DOUBLE_EQ((*plain.speedup()->interval)[1], 3.1 / 1.45);
  EXPECT_EQ(plain.speedup()->differs(), true);
  b.recorded.cost = trace::RecordingCost{2.9, 3.0, base::Interval{2.8, 3.2}, ""};
  EXPECT_EQ(compare_traces(a, b).speedup()->differs(), false);
  b.recorded.cost->plain_interval.reset();
  EXPECT_EQ(compare_traces(a, b).speedup()->differs(), std::nullopt);
}

TEST(TraceDiff, DoubtsRecordedIterationsThatContradictTheSpeedup) {
  DiffSide a{separate()};
  DiffSide b{fused()};  // 400 ns and 100 ns while recorded
  a.recorded.cost = trace::RecordingCost{1e-4, 4e-4, base::Interval{0.9e-4, 1.1e-4}, "+300.0 %"};
  b.recorded.cost = trace::RecordingCost{2e-4, 1e-4, base::Interval{1.9e-4, 2.1e-4}, "noise"};
  const TraceDiff turned = compare_traces(a, b);
  EXPECT_TRUE(turned.contradictory());
  EXPECT_EQ(
      turned.notes.front(),
      "Doubt: the recorded iterations, which the parts are of, contradict the speedup: in them B is 4.00x "
      "as fast as A (400 ns and 100 ns on average; not recorded 100 ns and 200 ns). They were "
      "disturbed or slowed by recording, so the parts do not explain the speedup; record both again on a "
      "quiet machine, with more iterations (hone profile --active 50).");
  EXPECT_EQ(iteration_doubt(turned.iteration_a, *turned.plain_a)->text,
            "the recorded ones take 400 ns on average, 100 ns without recording");
  EXPECT_FALSE(iteration_doubt(turned.iteration_b, *turned.plain_b));
  a.recorded.cost = trace::RecordingCost{4.2e-4, 4e-4, base::Interval{4e-4, 4.4e-4}, ""};
  b.recorded.cost = trace::RecordingCost{1e-4, 1e-4, base::Interval{0.9e-4, 1.1e-4}, ""};
  EXPECT_FALSE(compare_traces(a, b).contradictory()) << "4.2 and 4";
  b.recorded.cost->plain_ms = 2e-4;
  EXPECT_TRUE(compare_traces(a, b).contradictory()) << "2.1 and 4";
}

TEST(TraceDiff, GivesNoSpeedupOfDifferentPrograms) {
  DiffSide a{separate()};
  LayerTable table = fused();
  table.layers = {layer("encode", "", {10, 10, 10}), layer("send", "", {10, 10, 10})};
  DiffSide b{table};
  TraceDiff diff = compare_traces(a, b);
  EXPECT_TRUE(diff.unrelated);
  EXPECT_FALSE(diff.speedup());
  EXPECT_EQ(
      diff.notes.front(),
      "A and B share no layer, range or kernel, so they seem to be of different programs, and no speedup "
      "is given; record one program or model twice (hone profile) and compare these traces.");
  b.names = {"relu1"};
  EXPECT_FALSE(compare_traces(a, b).unrelated) << "1 of 3 names";
  for (int i = 0; i < 60; ++i) {
    a.names.insert("a" + std::to_string(i));
    b.names.insert("b" + std::to_string(i));
  }
  EXPECT_THAT(compare_traces(a, b).notes.front(), ::testing::StartsWith("A and B share 1 of 63 names, so"));
  a.recorded.model = b.recorded.model = "net";
  EXPECT_FALSE(compare_traces(a, b).unrelated) << "one model in two systems";
}

/// Steps that launch and do not wait: the host is done long before the device.
DiffSide asynchronous(trace::Time kernel) {
  trace::Trace t;
  for (int i = 0; i < 6; ++i) {
    const trace::Time at = i * 100;
    const auto thread = t.thread_index(1, 1);
    t.host_events.push_back({at, at + 98, trace::HostKind::kStep, t.strings.intern("step"), thread});
    t.host_events.push_back({at + 10, at + 20, trace::HostKind::kRuntimeApi,
                             t.strings.intern("cudaLaunchKernel"), thread, i + 1});
    trace::DeviceEvent event{50 + i * kernel, 50 + (i + 1) * kernel, trace::DeviceKind::kKernel,
                             t.strings.intern("gemm")};
    event.correlation = i + 1;
    t.device_events.push_back(event);
  }
  normalize(t);
  return diff_side(t, find_steps(t));
}

TEST(TraceDiff, CountsWorkThatTheHostDoesNotWaitFor) {
  const TraceDiff diff = compare_traces(asynchronous(1000), asynchronous(2000));
  EXPECT_NEAR(diff.iteration_b.mean - diff.iteration_a.mean, 1000, 1e-9);
  EXPECT_NEAR(diff.waterfall[0].change, 1000, 1e-9);
  EXPECT_NEAR(sum(diff), 1000, 1e-9);
}

TEST(TraceDiff, SaysWhenThereAreNoLayers) {
  EXPECT_EQ(compare_traces({}, {fused()}).notes.size(), 1U);
  EXPECT_TRUE(compare_traces({}, {fused()}).layers.empty());
  EXPECT_EQ(compare_traces({separate()}, {fused()}).notes.size(), 0U);
}

}  // namespace
}  // namespace hone::analysis
