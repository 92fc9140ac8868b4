// Figures of traces: the values of the analyses, in one unit, and what was left out.
#include "report/plot/trace_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::report {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const TraceLabel kLabel{"run", "net, hone fp32 batch 1", "a GPU"};

TEST(TraceFigures, LayersAreBoxesInTheOrderInWhichTheyRun) {
  analysis::LayerTable table;
  for (int i = 0; i < 42; ++i) {
    // The first two are the shortest.
    const double time = i < 2 ? 10 : 1000 + i;
    table.layers.push_back(
        {.name = "layer" + std::to_string(i), .time = base::summarize({time, 2 * time, 3 * time})});
  }
  table.notes = {"a note"};
  const Figure figure = layers_figure(kLabel, table).value();
  EXPECT_EQ(figure.name, "run-layers");
  EXPECT_EQ(figure.title, "Layers of net, hone fp32 batch 1");
  EXPECT_THAT(figure.subtitle, HasSubstr("3 iterations"));
  const auto& chart = std::get<RowChart>(figure.chart);
  EXPECT_EQ(chart.value.title, "time in one iteration, us");
  ASSERT_THAT(chart.rows, SizeIs(40));
  EXPECT_EQ(chart.rows[0].name, "layer2");
  EXPECT_EQ(chart.rows[0].text, "2.004 us");
  EXPECT_EQ(chart.rows[0].box->low, 1.002);
  EXPECT_EQ(chart.rows[0].box->median, 2.004);
  EXPECT_EQ(chart.rows[0].box->high, 3.006);
  EXPECT_THAT(figure.notes,
              ElementsAre("2 shorter layers are left out: 0.0 % of the layers' time.", "a note"));
  EXPECT_FALSE(layers_figure(kLabel, {}));
}

analysis::StepBreakdown breakdown(size_t count) {
  analysis::StepBreakdown steps;
  steps.announced = true;
  std::vector<double> totals;
  std::vector<double> kernels;
  for (size_t i = 0; i < count; ++i) {
    const auto kernel = static_cast<analysis::Time>(1'000'000 * (i + 1));
    analysis::StepCost cost{{"", {}, {0, kernel + 500'000}, 0}};
    cost.costs[0] = kernel;
    cost.costs[7] = 500'000;
    steps.steps.push_back(cost);
    totals.push_back(static_cast<double>(kernel) + 5e5);
    kernels.push_back(static_cast<double>(kernel));
  }
  steps.total = base::summarize(totals);
  steps.categories[0] = base::summarize(kernels);
  steps.categories[7] = base::summarize(std::vector<double>(count, 5e5));
  return steps;
}

TEST(TraceFigures, FewStepsAreLinesOfWhatTheyWereSpentOn) {
  const auto chart = std::get<RowChart>(steps_figure(kLabel, breakdown(3)).value().chart);
  ASSERT_THAT(chart.parts, SizeIs(2));
  EXPECT_EQ(chart.parts[0].name, "kernel 80.0 %");
  EXPECT_EQ(chart.parts[1].name, "other 20.0 %");
  ASSERT_THAT(chart.rows, SizeIs(3));
  EXPECT_EQ(chart.rows[2].name, "step 2");
  EXPECT_EQ(chart.rows[2].text, "3.500 ms");
  EXPECT_EQ(chart.rows[2].bars[0].to, 3);
  EXPECT_EQ(chart.rows[2].bars[1].from, 3);
  EXPECT_EQ(chart.rows[2].bars[1].to, 3.5);
}

TEST(TraceFigures, ManyStepsArePutTogether) {
  const auto some = std::get<ColumnChart>(steps_figure(kLabel, breakdown(100)).value().chart);
  ASSERT_THAT(some.columns, SizeIs(100));
  EXPECT_THAT(some.columns[9].values, ElementsAre(10, 0.5));
  const auto many = std::get<ColumnChart>(steps_figure(kLabel, breakdown(241)).value().chart);
  EXPECT_EQ(many.x_title, "step; each column is the mean of 3");
  ASSERT_THAT(many.columns, SizeIs(81));
  EXPECT_EQ(many.columns[1].name, "3");
  EXPECT_THAT(many.columns[1].values, ElementsAre(5, 0.5));
  EXPECT_THAT(many.columns[80].values, ElementsAre(241, 0.5));
  EXPECT_FALSE(steps_figure(kLabel, {}));
}

TEST(TraceFigures, AWaterfallGoesFromOneIterationToTheOther) {
  analysis::TraceDiff diff;
  diff.iteration_a = {5e6, 1e5};
  diff.iteration_b = {2e6, 1e5};
  diff.waterfall = {{"layers", -4e6}, {"idle", 1e6}, {"unknown", 0}};
  diff.notes = {"a note"};
  const Figure figure = waterfall_figure(kLabel, {"other", "net, hone bf16 batch 1", "a GPU"}, diff);
  EXPECT_EQ(figure.name, "run-to-other-waterfall");
  EXPECT_EQ(figure.title, "B is 2.50 times as fast as A: why");
  EXPECT_THAT(figure.notes, Contains("a note"));
  const auto& chart = std::get<RowChart>(figure.chart);
  ASSERT_THAT(chart.rows, SizeIs(5));
  EXPECT_EQ(chart.rows[0].text, "5.000 ms ±100.0 us");
  EXPECT_EQ(chart.rows[0].whisker, std::pair(4.9, 5.1));
  EXPECT_EQ(chart.rows[1].text, "−4.000 ms");
  EXPECT_EQ(chart.rows[1].bars[0].from, 5);
  EXPECT_EQ(chart.rows[1].bars[0].to, 1);
  EXPECT_EQ(chart.parts[chart.rows[1].bars[0].part].name, "less time");
  EXPECT_EQ(chart.rows[2].text, "+1.000 ms");
  EXPECT_EQ(chart.rows[2].bars[0].to, 2);
  EXPECT_EQ(chart.parts[chart.rows[2].bars[0].part].name, "more time");
  EXPECT_EQ(chart.rows[3].text, "0 ns");
  EXPECT_EQ(chart.rows[4].bars[0].to, 2);
}

TEST(TraceFigures, AChangeWithinTheNoiseIsSaidToBeNone) {
  analysis::TraceDiff diff;
  diff.iteration_a = {5e6, 1e6};
  diff.iteration_b = {4e6, 1e5};
  EXPECT_EQ(waterfall_figure(kLabel, kLabel, diff).title, "From A to B: the change is not more than noise");
  diff.iteration_b = {10e6, 1e5};
  EXPECT_EQ(waterfall_figure(kLabel, kLabel, diff).title, "B takes 2.00 times as long as A: why");
}

TEST(TraceFigures, ATitleSaysWhenTheIterationsContradictTheSpeedup) {
  analysis::TraceDiff diff;
  diff.iteration_a = {5e6, 1e5};
  diff.iteration_b = {9e6, 4e6};
  diff.plain_a = trace::RecordingCost{4.0, 5.0, base::Interval{3.9, 4.1}, ""};
  diff.plain_b = trace::RecordingCost{2.0, 9.0, base::Interval{1.9, 2.1}, ""};
  EXPECT_EQ(waterfall_figure(kLabel, kLabel, diff).title,
            "B is 2.00 times as fast as A, but these recorded iterations contradict that");
  diff.plain_b = trace::RecordingCost{4.0, 9.0, base::Interval{3.9, 4.1}, ""};
  EXPECT_EQ(waterfall_figure(kLabel, kLabel, diff).title,
            "From A to B: the change is not more than noise, but these recorded iterations contradict that");
}

}  // namespace
}  // namespace hone::report
