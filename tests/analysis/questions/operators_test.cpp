// The operator table: self and total times of host and device.
#include "analysis/questions/operators.hpp"

#include <gtest/gtest.h>

#include "analysis/joins.hpp"
#include "support/random_trace.hpp"

namespace hone::analysis {
namespace {

using support::TraceBuilder;

const OperatorRow& row_of(const OperatorTable& table, const std::string& name) {
  for (const OperatorRow& row : table.rows) {
    if (row.name == name) return row;
  }
  throw std::out_of_range(name);
}

OperatorTable tabulate(const trace::Trace& trace, bool by_shapes = false) {
  return tabulate_operators(trace, trace::extent(trace), by_shapes);
}

TEST(Operators, SelfAndTotal) {
  TraceBuilder b;
  b.op("aten::linear", 0, 100, 1);
  b.op("aten::addmm", 10, 80, 2);
  b.api("cudaLaunchKernel", 20, 50, 11);
  b.host(support::HostKind::kDriverApi, "cuLaunchKernel", 25, 45).correlation = 11;  // inside the other
  b.api("cudaLaunchKernel", 90, 95, 12);
  b.api("cudaLaunchKernel", 200, 210, 13);
  b.kernel("nvjet_tst_128", 300, 340, 11);
  b.kernel("bias", 340, 350, 12);
  b.kernel("of nobody", 400, 407, 13);
  const OperatorTable table = tabulate(b.build());
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].name, "aten::addmm");
  EXPECT_EQ(table.rows[0].host_self, 40);
  EXPECT_EQ(table.rows[0].host_total, 70);
  EXPECT_EQ(table.rows[0].device_self, 40);
  EXPECT_EQ(table.rows[0].device_tensor, 40);
  EXPECT_TRUE(table.rows[0].tensor_core_eligible);
  EXPECT_EQ(table.rows[1].host_self, 100 - 70 - 5);
  EXPECT_EQ(table.rows[1].device_self, 10);
  EXPECT_EQ(table.rows[1].device_total, 50);
  EXPECT_EQ(table.rows[1].device_tensor, 0);
  EXPECT_EQ(table.unjoined_events, 1);
  EXPECT_EQ(table.unjoined_time, 7);
}

TEST(Operators, RecursionCountsOnce) {
  TraceBuilder b;
  b.op("aten::to", 0, 100);
  b.op("aten::to", 10, 60);
  b.api("cudaMemcpyAsync", 20, 30, 5);
  b.copy(support::CopyDirection::kHostToDevice, 8, 40, 70, 5);
  const OperatorRow row = tabulate(b.build()).rows.at(0);
  EXPECT_EQ(row.calls, 2);
  EXPECT_EQ(row.host_total, 100);
  EXPECT_EQ(row.host_self, 90);
  EXPECT_EQ(row.device_total, 30);
  EXPECT_EQ(row.device_self, 30);
}

TEST(Operators, ExternalIdsReachAcrossThreads) {
  TraceBuilder b;
  b.op("aten::mm", 0, 100, 5);
  b.on_thread(2).api("cudaLaunchKernel", 10, 30, 9).external_id = 5;
  b.kernel("gemm", 40, 60, 9);
  const OperatorRow row = tabulate(b.build()).rows.at(0);
  EXPECT_EQ(row.device_self, 20);
  EXPECT_EQ(row.host_self, 100);  // the call took the other thread's time
}

TEST(Operators, InputShapesTellRowsApart) {
  TraceBuilder b;
  for (int i = 0; i < 3; ++i) {
    b.op("aten::mm", 100 * i, 100 * i + 50).detail = i;
    b.trace.operators.push_back({b.trace.strings.intern(i < 2 ? "[[8,8]]" : "[[4,4]]")});
  }
  EXPECT_EQ(tabulate(b.build()).rows.size(), 1U);
  const OperatorTable table = tabulate(b.build(), true);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].input_shapes, "[[8,8]]");
  EXPECT_EQ(table.rows[0].calls, 2);
}

TEST(Operators, OnlyCallsInTheWindowCount) {
  TraceBuilder b;
  for (int i = 0; i < 4; ++i) b.op("aten::mm", 100 * i, 100 * i + 50);
  EXPECT_EQ(row_of(tabulate_operators(b.build(), {100, 300}), "aten::mm").calls, 2);
}

TEST(Operators, TimesOfRandomTracesAddUp) {
  base::Random random(6);
  for (int round = 0; round < 200; ++round) {
    const trace::Trace trace = support::random_trace(random, random.below(4));
    const OperatorTable table = tabulate(trace);
    Time self = 0;
    Time device = table.unjoined_time;
    for (const OperatorRow& row : table.rows) {
      EXPECT_GE(row.host_self, 0);
      EXPECT_LE(row.host_self, row.host_total);
      EXPECT_LE(row.device_self, row.device_total);
      self += row.host_self;
      device += row.device_self;
    }
    Time all_device = 0;
    for (const trace::DeviceEvent& event : trace.device_events) all_device += event.end - event.start;
    EXPECT_EQ(device, all_device);
    // All operators of these traces lie on one thread.
    std::vector<Span> operators;
    std::vector<Span> calls;
    for (const trace::HostEvent& event : trace.host_events) {
      if (is_operator(event)) operators.push_back({event.start, event.end});
      if (is_api_call(event)) calls.push_back({event.start, event.end});
    }
    EXPECT_EQ(self, total_length(subtract(unite(operators), unite(calls))));
  }
}

}  // namespace
}  // namespace hone::analysis
