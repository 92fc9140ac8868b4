// Times of layers from traced runs: on the CPU by ranges, on a GPU by its own work; the first run is left
// out.
#include "bench/sweep/layer_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::bench {
namespace {

using testing::ElementsAre;

constexpr int64_t kMillisecond = 1'000'000;

/// Three runs of 10 ms each.
TracedRuns three_runs() {
  TracedRuns traced;
  for (int64_t i = 0; i < 3; ++i)
    traced.runs.push_back({10 * i * kMillisecond, (10 * i + 10) * kMillisecond});
  traced.steps.resize(2);
  traced.steps[0] = {"conv", "Conv", {"conv", "relu"}, "onednn", {"float32 1x3x8x8"}, {"float32 1x4x8x8"},
                     100,    50};
  traced.steps[1] = {"pool", "MaxPool", {"pool"}, "reference"};
  return traced;
}

TEST(LayerTimes, AreSumsOfRangesInARunOnTheCpu) {
  TracedRuns traced = three_runs();
  traced.names = {"conv", "pool", "inner"};
  const auto add = [&](size_t name, int64_t start, int64_t milliseconds) {
    traced.ranges.push_back({name, 1, start * kMillisecond, (start + milliseconds) * kMillisecond});
  };
  add(0, 1, 8);
  add(0, 11, 2);
  add(0, 15, 1);
  add(2, 16, 1);  // of no step
  add(0, 21, 5);
  add(1, 28, 1);
  const std::vector<LayerFigure> layers = layer_figures(traced);
  ASSERT_EQ(layers.size(), 2);
  EXPECT_EQ(layers[0].name, "conv");
  EXPECT_EQ(layers[0].kind, "Conv");
  EXPECT_EQ(layers[0].tactic, "onednn");
  EXPECT_THAT(layers[0].inputs, ElementsAre("float32 1x3x8x8"));
  EXPECT_THAT(layers[0].outputs, ElementsAre("float32 1x4x8x8"));
  EXPECT_EQ(layers[0].time.n, 2);
  EXPECT_DOUBLE_EQ(*layers[0].time.min, 3);
  EXPECT_DOUBLE_EQ(*layers[0].time.max, 5);
  EXPECT_DOUBLE_EQ(*layers[1].time.max, 1);
  EXPECT_EQ(layers[0].flops, 100);
}

TEST(LayerTimes, AreSumsOfTheDevicesWorkOnAGpu) {
  TracedRuns traced = three_runs();
  traced.names = {"conv"};
  traced.ranges.push_back({0, 1, 11 * kMillisecond, 12 * kMillisecond});  // it only launches there
  traced.device.texts = {"kernel", "conv"};
  traced.device.nodes = {{1}};
  const auto add = [&](int64_t start, int64_t milliseconds, int64_t node) {
    base::DeviceWork work;
    work.start_ns = start * kMillisecond;
    work.end_ns = (start + milliseconds) * kMillisecond;
    work.node = node;
    traced.device.work.push_back(work);
  };
  add(12, 3, 0);
  add(15, 4, 0);
  add(19, 1, -1);
  add(22, 5, 0);
  const std::vector<LayerFigure> layers = layer_figures(traced);
  EXPECT_DOUBLE_EQ(*layers[0].time.max, 7);
  EXPECT_DOUBLE_EQ(*layers[0].time.min, 5);
}

TEST(LayerTimes, OfOneRunAreItsOwn) {
  TracedRuns traced = three_runs();
  traced.runs.resize(1);
  traced.names = {"conv"};
  traced.ranges.push_back({0, 1, 0, 2 * kMillisecond});
  EXPECT_DOUBLE_EQ(*layer_figures(traced)[0].time.p50, 2);
}

TEST(LayerTimes, AreUnknownOfStepsThatNeverRan) {
  TracedRuns traced = three_runs();
  EXPECT_TRUE(layer_figures(traced).empty()) << "the backend does not say when its steps ran";
  traced.names = {"conv"};
  traced.ranges.push_back({0, 1, 11 * kMillisecond, 13 * kMillisecond});
  const std::vector<LayerFigure> layers = layer_figures(traced);
  ASSERT_EQ(layers.size(), 2);
  EXPECT_DOUBLE_EQ(*layers[0].time.max, 2);
  EXPECT_FALSE(layers[1].time.p50.has_value()) << "not 0 ms";
}

TEST(LayerTimes, AreNoneOfABackendWithoutSteps) {
  TracedRuns traced = three_runs();
  traced.steps.clear();
  EXPECT_TRUE(layer_figures(traced).empty());
}

}  // namespace
}  // namespace hone::bench
