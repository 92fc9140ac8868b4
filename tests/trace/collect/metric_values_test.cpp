// From counted numbers to the metrics that were asked for.
#include "trace/collect/metric_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <limits>

namespace hone::trace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void count(Trace& trace, int64_t process, int64_t launch, const char* metric, double value) {
  KernelMetric row;
  row.process = process;
  row.launch = launch;
  row.kernel = trace.strings.intern("gemm");
  row.metric = trace.strings.intern(metric);
  row.value = value;
  trace.kernel_metrics.push_back(row);
}

std::vector<std::string> finished(Trace& trace, const std::vector<WantedMetric>& wanted) {
  finish_metrics(trace, wanted);
  std::vector<std::string> lines;
  for (const KernelMetric& row : trace.kernel_metrics)
    lines.push_back(fmt::format("{}.{} {} {} {}{}", row.process, row.launch, trace.text(row.kernel),
                                trace.text(row.metric), row.value, trace.text(row.unit)));
  return lines;
}

TEST(MetricValues, AreMadeOfWhatWasCountedInTheSameLaunch) {
  Trace trace;
  count(trace, 7, 1, "a__x.sum", 30);
  count(trace, 7, 0, "a__x.sum", 10);
  count(trace, 7, 0, "b__x.sum", 4);
  count(trace, 8, 0, "a__x.sum", 50);
  count(trace, 7, 1, "b__x.sum", 5);
  const std::vector<WantedMetric> wanted = {{"both", "%", parse_formula("a__x.sum + 2 * b__x.sum")},
                                            {"share", "", parse_formula("a__x.sum / (b__x.sum + b__x.sum)")}};
  EXPECT_THAT(finished(trace, wanted), ElementsAre("7.0 gemm both 18%", "7.0 gemm share 1.25",
                                                   "7.1 gemm both 40%", "7.1 gemm share 3"));
}

TEST(MetricValues, ThereIsNoneOfADivisionByNothing) {
  Trace trace;
  count(trace, 7, 0, "a__x.sum", 0);
  count(trace, 7, 0, "b__x.sum", 0);
  EXPECT_THAT(finished(trace, {{"share", "", parse_formula("a__x.sum / b__x.sum")}}), IsEmpty());
}

TEST(MetricValues, AnEndlessOneIsLeftOutOfATrace) {
  Trace trace;
  count(trace, 7, 0, "a__x.sum", std::numeric_limits<double>::infinity());
  count(trace, 7, 1, "a__x.sum", std::numeric_limits<double>::quiet_NaN());
  count(trace, 7, 2, "a__x.sum", 1);
  normalize(trace);
  ASSERT_EQ(trace.kernel_metrics.size(), 1U);
  ASSERT_EQ(trace.doubts.size(), 1U);
  EXPECT_EQ(trace.doubts[0].count, 2);
  EXPECT_EQ(trace.doubts[0].severity, Severity::kLoss);
}

}  // namespace
}  // namespace hone::trace
