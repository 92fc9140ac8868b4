// Metrics of kernels, summed up over launches.
#include "analysis/questions/kernel_metrics.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::analysis {
namespace {

using testing::ElementsAre;

void add(trace::Trace& trace, int64_t launch, const char* kernel, const char* metric, double value,
         int32_t device = 0) {
  trace::KernelMetric row;
  row.launch = launch;
  row.device = device;
  row.kernel = trace.strings.intern(kernel);
  row.metric = trace.strings.intern(metric);
  row.unit = trace.strings.intern("%");
  row.value = value;
  trace.kernel_metrics.push_back(row);
}

std::vector<std::string> lines(const KernelMetricTable& table) {
  std::vector<std::string> result;
  for (const KernelMetricRow& row : table.rows)
    result.push_back(fmt::format("{} {} {} {} {} {} {}{}", row.device, row.kernel, row.metric,
                                 row.invocations, row.min, row.max, row.mean, row.unit));
  return result;
}

TEST(KernelMetrics, AreSummedUpByKernelInTheirOrder) {
  trace::Trace trace;
  add(trace, 0, "relu", "ipc", 2);
  add(trace, 1, "gemm", "ipc", -1);
  add(trace, 2, "relu", "ipc", 6);
  add(trace, 2, "relu", "occupancy", 50);
  add(trace, 3, "relu", "ipc", 1);
  const KernelMetricTable table = tabulate_kernel_metrics(trace);
  EXPECT_EQ(table.launches, 4);
  EXPECT_THAT(lines(table),
              ElementsAre("0 relu ipc 3 1 6 3%", "0 relu occupancy 1 50 50 50%", "0 gemm ipc 1 -1 -1 -1%"));
}

TEST(KernelMetrics, OfSeveralGpusStayApart) {
  trace::Trace trace;
  add(trace, 0, "relu", "ipc", 2, 0);
  add(trace, 1, "relu", "ipc", 4, 1);
  EXPECT_THAT(lines(tabulate_kernel_metrics(trace)),
              ElementsAre("0 relu ipc 1 2 2 2%", "1 relu ipc 1 4 4 4%"));
  EXPECT_EQ(tabulate_kernel_metrics({}).launches, 0);
}

}  // namespace
}  // namespace hone::analysis
