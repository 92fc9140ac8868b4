// Figures of benchmarks show the values of the files, in one setting each, and say what they leave out.
#include "report/plot/sweep_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/plot/sweep_json.hpp"
#include "report/plot/sweep_notes.hpp"

namespace hone::report {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(SweepFigures, LatencyHasAPointForEachBatchAndTheSpreadOfItsSamples) {
  const SweepGroup group = group_of({run_json("hone", "fp32", 8, 70), run_json("hone", "fp32", 1, 9),
                                     run_json("torch", "fp32", 1, 20, 30)});
  const Figure figure = latency_figure(group).value();
  EXPECT_EQ(figure.name, "net-latency");
  EXPECT_EQ(figure.title, "Latency of net");
  EXPECT_EQ(figure.subtitle, "Some CPU, 2 threads, 2026-11-21: p50, bars from p25 to p99");
  EXPECT_THAT(figure.notes,
              ElementsAre("Bars of runs with too few samples for p99 end lower: at p90 for 1."));
  const auto& chart = std::get<LineChart>(figure.chart);
  EXPECT_THAT(chart.x.ticks, ElementsAre(1, 8));
  EXPECT_TRUE(chart.x.log);
  EXPECT_FALSE(chart.y.log);  // 74 / 8.495 is less than 10
  ASSERT_THAT(chart.series, SizeIs(2));
  EXPECT_EQ(chart.series[0].name, "hone fp32");
  EXPECT_NE(chart.series[0].style.color, chart.series[1].style.color);
  EXPECT_NE(chart.series[0].style.marker, chart.series[1].style.marker);
  const Point& point = chart.series[0].points.at(1);
  EXPECT_EQ(point.x, 8);
  EXPECT_EQ(point.y, 70);
  EXPECT_EQ(point.low, 70 - 1 + 2.0 * 99 / 400);  // the 100th of 400 samples
  EXPECT_EQ(point.high, 74);
  EXPECT_TRUE(point.valid);
  EXPECT_EQ(chart.series[1].points.at(0).high, 22);
}

TEST(SweepFigures, OneBatchIsALineForEachSystem) {
  Json invalid = run_json("torch", "fp32", 4, 200);
  invalid["verdict"]["valid"] = false;
  const Figure figure = latency_figure(group_of({run_json("hone", "fp32", 4, 9), invalid})).value();
  EXPECT_EQ(figure.title, "Latency of net, batch 4");
  const auto& chart = std::get<RowChart>(figure.chart);
  EXPECT_TRUE(chart.value.log);
  ASSERT_THAT(chart.rows, SizeIs(2));
  EXPECT_EQ(chart.rows[0].text, "9 ms");
  EXPECT_TRUE(chart.rows[0].dot->valid);
  EXPECT_FALSE(chart.rows[1].dot->valid);
  EXPECT_THAT(figure.notes,
              ElementsAre("INVALID (hollow markers; the result files say why): torch fp32 batch 4."));
}

TEST(SweepFigures, ThroughputTellsPipelinedRunsApart) {
  Json run = run_json("hone", "fp16", 1, 2);
  run["pipelined"] = {{"throughput_per_s", 900}, {"streams", 4}};
  const auto chart = std::get<RowChart>(throughput_figure(group_of({run})).value().chart);
  ASSERT_THAT(chart.rows, SizeIs(2));
  EXPECT_EQ(chart.rows[0].dot->y, 500);
  EXPECT_EQ(chart.rows[1].name, "hone fp16, pipelined");
  EXPECT_EQ(chart.rows[1].dot->y, 900);
}

TEST(SweepFigures, ASpeedupWhoseIntervalHoldsOneIsNoDifference) {
  Json faster = run_json("hone", "fp32", 1, 9);
  faster["speedup"] = speedup_json(1.5, 1.2, 1.9);
  Json same = run_json("other", "fp32", 1, 9);
  same["speedup"] = speedup_json(1.1, 0.9, 1.3);
  Json unknown = run_json("third", "fp32", 1, 9);
  unknown["speedup"] = speedup_json(3, 1, 1);
  unknown["speedup"]["interval"] = nullptr;
  unknown["speedup"]["interleaved"] = false;
  const Figure figure = speedup_figure(group_of({faster, same, unknown})).value();
  EXPECT_EQ(figure.title, "Speedup of net over torch fp32, batch 1");
  const auto& chart = std::get<RowChart>(figure.chart);
  EXPECT_EQ(chart.value.reference, 1);
  EXPECT_EQ(chart.rows[0].text, "1.50 [1.20, 1.90]");
  EXPECT_EQ(chart.rows[0].dot->low, 1.2);
  EXPECT_EQ(chart.rows[0].dot->high, 1.9);
  EXPECT_EQ(chart.rows[1].text, "no difference [0.90, 1.30]");
  EXPECT_EQ(chart.rows[2].text, "3.00, no interval");
  EXPECT_FALSE(chart.rows[2].dot->low);
  EXPECT_THAT(figure.notes,
              ElementsAre("No difference, since the interval holds 1: other fp32 batch 1.",
                          "Too few rounds for an interval: third fp32 batch 1.",
                          "Not interleaved with its comparison, so drift of the machine may be part "
                          "of it: third fp32 batch 1."));
}

TEST(SweepFigures, SpeedupsOverDifferentSystemsSayOverWhich) {
  Json a = run_json("hone", "fp32", 1, 9);
  a["speedup"] = speedup_json(1.5, 1.2, 1.9);
  Json b = run_json("hone", "bf16", 1, 9);
  b["speedup"] = speedup_json(2, 1.9, 2.1);
  b["speedup"]["over"]["backend"] = "hone";
  const Figure figure = speedup_figure(group_of({a, b})).value();
  EXPECT_EQ(figure.title, "Speedup of net, batch 1");
  EXPECT_EQ(std::get<RowChart>(figure.chart).rows[0].name, "hone bf16 over hone fp32");
  EXPECT_EQ(std::get<RowChart>(figure.chart).rows[1].name, "hone fp32 over torch fp32");
}

TEST(SweepFigures, MemoryAddsUpToThePeakOrIsNotToldApart) {
  Json small = run_json("torch", "fp32", 1, 9);
  small["peak_memory_mb"] = 20;
  small["verdict"]["valid"] = false;
  const Figure figure = memory_figure(group_of({run_json("hone", "fp32", 1, 9), small})).value();
  EXPECT_THAT(figure.notes, ElementsAre("* INVALID; the result files say why."));
  const auto& chart = std::get<RowChart>(figure.chart);
  EXPECT_EQ(chart.rows[0].text, "100 MB");
  EXPECT_EQ(chart.rows[1].text, "20 MB *");
  ASSERT_THAT(chart.rows[0].bars, SizeIs(4));
  EXPECT_EQ(chart.parts[chart.rows[0].bars[2].part].name, "weights");
  EXPECT_EQ(chart.rows[0].bars[2].to - chart.rows[0].bars[2].from, 30);
  EXPECT_EQ(chart.parts[chart.rows[0].bars[3].part].name, "the rest of the peak");
  EXPECT_EQ(chart.rows[0].bars[3].to, 100);
  ASSERT_THAT(chart.rows[1].bars, SizeIs(1));
  EXPECT_EQ(chart.parts[chart.rows[1].bars[0].part].name, "not told apart");
  EXPECT_EQ(chart.rows[1].bars[0].to, 20);
}

TEST(SweepFigures, MemoryOfAGpuIsTheDevices) {
  Json run = run_json("hone", "fp16", 1, 9);
  run["device"] = "cuda";
  run["device_memory"] = {{"process_mb", 800}, {"allocated_mb", 50}, {"driver_mb", 3000}};
  const auto chart = std::get<RowChart>(memory_figure(group_of({run})).value().chart);
  ASSERT_THAT(chart.rows[0].bars, SizeIs(2));
  EXPECT_EQ(chart.rows[0].bars[0].to, 50);
  EXPECT_EQ(chart.rows[0].bars[1].to, 800);
}

TEST(SweepFigures, FailuresAreNotedAndAloneMakeNoFigure) {
  Json failed = run_json("hone", "fp32", 1, 9);
  failed["failure"] = "the worker died";
  EXPECT_THAT(sweep_figures(group_of({failed})), IsEmpty());
  const auto figures = sweep_figures(group_of({failed, run_json("torch", "fp32", 1, 9)}));
  ASSERT_THAT(figures, SizeIs(3));  // no speedup
  for (const Figure& figure : figures)
    EXPECT_THAT(figure.notes, Contains("Failed: hone fp32 batch 1 (the worker died)."));
}

TEST(SweepGroups, SettingsAreApartAndNamedByWhatTellsThemApart) {
  Json gpu = run_json("hone", "fp32", 1, 1);
  gpu["device"] = "cuda";
  Json transfers = gpu;
  transfers["includes_transfers"] = true;
  Json other = run_json("hone", "fp32", 1, 9);
  other["model"] = "/somewhere/b.onnx";
  const auto groups =
      group_runs(read_json(sweep_json({run_json("hone", "fp32", 1, 9), gpu, transfers, other})));
  std::vector<std::string> names;
  for (const SweepGroup& group : groups) names.push_back(group.name);
  EXPECT_THAT(names, ElementsAre("net-cpu", "net-cuda", "net-cuda-transfers", "b"));
  EXPECT_EQ(groups[2].machine, "an unknown GPU, with data transfers, 2026-11-21");
}

std::vector<std::string> titles_of(const std::vector<SweepGroup>& groups) {
  std::vector<std::string> titles;
  for (const SweepGroup& group : groups) titles.push_back(group.name + ": " + group.subject);
  return titles;
}

TEST(SweepGroups, ModelsOfOneShortNameAreApart) {
  std::vector<Json> runs;
  for (const char* model : {"/models/a/net.onnx", "/models/b/net.onnx", "/models/./a/net.onnx"}) {
    runs.push_back(run_json("hone", "fp32", static_cast<int>(runs.size()) + 1, 9));
    runs.back()["model"] = model;
  }
  const auto groups = group_runs(read_json(sweep_json(runs)));
  EXPECT_THAT(titles_of(groups), ElementsAre("a-net: a/net", "b-net: b/net"));
  EXPECT_THAT(groups.at(0).series.at(0).runs, SizeIs(2)) << "two paths of one file";
  EXPECT_EQ(latency_figure(groups[1]).value().title, "Latency of b/net, batch 2");
}

TEST(SweepGroups, InputShapesAreApartAndNamedByTheInputsThatDiffer) {
  const auto of_shapes = [](const Json& shapes) {
    Json sweep = sweep_json({run_json("hone", "fp32", 1, 9)});
    if (!shapes.is_null()) sweep["context"]["input_shapes"] = {{"net", shapes}};
    return read_json(sweep).at(0);
  };
  const SweepRun unknown = of_shapes({});
  const SweepRun small = of_shapes("ids 1x8, size 2");
  EXPECT_THAT(titles_of(group_runs({unknown, small})), ElementsAre("net: net"));
  const auto groups = group_runs({small, of_shapes("ids 1x128, size 2"), unknown, of_shapes(7)});
  EXPECT_THAT(titles_of(groups), ElementsAre("net-ids-1x8: net (ids 1x8)", "net-ids-1x128: net (ids 1x128)",
                                             "net-unknown-input-shapes: net (unknown input shapes)"));
  EXPECT_EQ(latency_figure(groups[1]).value().title, "Latency of net (ids 1x128), batch 1");
  EXPECT_THAT(titles_of(group_runs({of_shapes("a 1x8, b 1x8"), of_shapes("a 1x9, b 1x9")})),
              ElementsAre("net-inputs-1x8: net (inputs 1x8)", "net-inputs-1x9: net (inputs 1x9)"));
}

TEST(SweepGroups, TheNewestMeasurementOfAConfigurationIsShown) {
  auto runs = read_json(sweep_json({run_json("hone", "fp32", 1, 9)}, "2026-11-22T00:00:00Z"));
  for (SweepRun& run : read_json(sweep_json({run_json("hone", "fp32", 1, 5)}, "2026-11-20T00:00:00Z")))
    runs.push_back(run);
  const SweepGroup group = group_runs(runs).at(0);
  ASSERT_THAT(group.series.at(0).runs, SizeIs(1));
  EXPECT_EQ(group.series[0].runs[0].latency.p50, 9);
  EXPECT_THAT(group.notes, ElementsAre(HasSubstr("1 earlier measurement")));
}

TEST(SweepGroups, ABackendLooksTheSameInAllFigures) {
  Json other = run_json("peer", "fp32", 1, 9);
  other["model"] = "other";
  Json of_other = run_json("hone", "fp32", 1, 9);
  of_other["model"] = "other";
  const auto runs = read_json(sweep_json({run_json("third", "fp32", 1, 9), run_json("peer", "fp32", 1, 9),
                                          run_json("torch", "fp32", 1, 9), other, of_other}));
  const auto groups = group_runs(runs, {"hone", "torch", "reference"});
  std::map<std::string, std::set<size_t>> colors;
  for (const SweepGroup& group : groups) {
    for (const SweepSeries& series : group.series)
      colors[series.runs.front().setup.backend].insert(series.style.color);
  }
  const std::map<std::string, std::set<size_t>> expected = {
      {"hone", {0}}, {"torch", {1}}, {"third", {2}}, {"peer", {3}}};
  EXPECT_EQ(colors, expected);
}

TEST(SweepGroups, StylesOfManySeriesDiffer) {
  std::vector<Json> runs;
  for (int backend = 0; backend < 10; ++backend) {
    for (const char* precision : {"fp32", "tf32", "bf16", "fp16"})
      runs.push_back(run_json("backend" + std::to_string(backend), precision, 1, 9));
  }
  std::set<std::tuple<size_t, size_t, bool>> styles;
  for (const SweepSeries& series : group_of(runs).series)
    styles.insert({series.style.color, series.style.marker, series.style.dashed});
  EXPECT_THAT(styles, SizeIs(40));
}

TEST(SweepNotes, LongListsAreCut) {
  EXPECT_EQ(listed({"a", "b", "c"}, 2), "a, b, c");
  EXPECT_EQ(listed({"a", "b", "c", "d"}, 2), "a, b and 2 more");
}

}  // namespace
}  // namespace hone::report
