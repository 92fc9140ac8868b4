// Names of metrics, and what is measured in their place.
#include "trace/collect/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"

namespace hone::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string problem_of(const std::vector<std::string>& names) {
  try {
    want_metrics(names);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  return "";
}

TEST(Metrics, EveryFormulaOfTheTableCanBeRead) {
  for (const MetricInfo& metric : metric_table()) {
    const MetricFormula formula = parse_formula(metric.expression);
    EXPECT_FALSE(formula.sum.empty());
    for (const auto* terms : {&formula.sum, &formula.divisor}) {
      for (const MetricTerm& term : *terms) {
        EXPECT_GT(term.factor, 0) << metric.name;
        EXPECT_THAT(term.metric, HasSubstr("__")) << metric.name;
        EXPECT_THAT(term.metric, HasSubstr(".")) << metric.name;
      }
    }
  }
}

TEST(Metrics, TheTableIsSortedAndSaysWhatItsMetricsAre) {
  const auto by_name = [](const MetricInfo& a, const MetricInfo& b) { return a.name < b.name; };
  EXPECT_TRUE(std::is_sorted(metric_table().begin(), metric_table().end(), by_name));
  for (const MetricInfo& metric : metric_table()) {
    EXPECT_GT(metric.description.size(), 10U) << metric.name;
    EXPECT_THAT((std::vector<std::string_view>{"", "%", "B", "B/s"}), testing::Contains(metric.unit));
    const bool in_per_cent = metric.name.ends_with("_utilization") || metric.name.starts_with("stall_");
    EXPECT_TRUE(metric.unit == "%" || !in_per_cent) << metric.name;
  }
}

TEST(Metrics, FormulasAreSumsAndOneDivision) {
  const MetricFormula formula = parse_formula("(a.x + 0.5 * b) / (100 * c + d)");
  ASSERT_EQ(formula.sum.size(), 2U);
  EXPECT_EQ(formula.sum[0].metric, "a.x");
  EXPECT_EQ(formula.sum[0].factor, 1);
  EXPECT_EQ(formula.sum[1].metric, "b");
  EXPECT_EQ(formula.sum[1].factor, 0.5);
  ASSERT_EQ(formula.divisor.size(), 2U);
  EXPECT_EQ(formula.divisor[0].factor, 100);
  EXPECT_EQ(formula.divisor[1].metric, "d");
  for (const char* bad : {"", "a b", "x * a", "a / b / c", "a + ", "2 * "})
    EXPECT_THROW(parse_formula(bad), Error) << bad;
}

TEST(Metrics, NamesOfTodayAreTakenAsTheyAre) {
  const auto wanted =
      want_metrics({"sm__warps_active.avg.pct_of_peak_sustained_active", "dram__bytes_read.sum",
                    "dram__bytes_read.sum.per_second", "gpu__time_duration.sum", "sm__ctas_launched.sum"});
  std::vector<std::string> units;
  for (const WantedMetric& metric : wanted) {
    ASSERT_EQ(metric.formula.sum.size(), 1U);
    EXPECT_EQ(metric.formula.sum[0].metric, metric.name);
    units.push_back(metric.unit);
  }
  EXPECT_THAT(units, ElementsAre("%", "B", "B/s", "ns", ""));
}

TEST(Metrics, WhatSeveralNeedIsMeasuredOnce) {
  const auto wanted = want_metrics({"issue_slots", "inst_issued", "issue_slots", "flop_count_sp_add"});
  EXPECT_EQ(wanted.size(), 3U);
  EXPECT_THAT(hardware_metrics(wanted),
              ElementsAre("smsp__inst_issued.sum", "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"));
}

TEST(Metrics, AnUnknownNameIsRefusedWithTheNearestOne) {
  EXPECT_EQ(problem_of({"achieved_ocupancy"}),
            "metric 'achieved_ocupancy' is not known; the nearest name is achieved_occupancy (hone profile "
            "--query-metrics lists them)");
  EXPECT_THAT(problem_of({"ipc", "flop_sp_eficiency"}), HasSubstr("nearest name is flop_sp_efficiency"));
  EXPECT_THAT(problem_of({"sm__warps_active"}), HasSubstr("as in sm__warps_active.avg"));
  EXPECT_THAT(problem_of({"a__b.c;d"}), HasSubstr("a__b.c;d"));
  EXPECT_NE(problem_of({""}), "");
}

}  // namespace
}  // namespace hone::trace
