// Every idle nanosecond of a device has one cause.
#include "analysis/questions/idle_time.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/program_trace.hpp"

namespace hone::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using trace::HostKind;

/// "cudaMalloc 20 in 1" for each row: time and gaps.
std::vector<std::string> rows(const DeviceIdle& device) {
  std::vector<std::string> found;
  for (const IdleRow& row : device.rows)
    found.push_back(fmt::format("{} {} in {}", row.name, row.time, row.gaps));
  return found;
}

TEST(IdleTime, IsWhatTheNextOperationWaitedFor) {
  ProgramTrace program;
  program.launch("a", 0, 5, 20, 8);
  program.wait_for_stream(8, 6, 22);
  program.host(HostKind::kOperator, "aten::relu", 25, 80);
  program.call("cudaMalloc", 30, 60);
  program.launch("b", 65, 71, 90, 8);
  program.launch("c", 68, 94, 99, 8);
  const IdleTime idle = idle_time(program.finish());
  ASSERT_EQ(idle.devices.size(), 1U);
  const DeviceIdle& device = idle.devices[0];
  EXPECT_EQ(device.span.start, 5);
  EXPECT_EQ(device.span.end, 99);
  EXPECT_EQ(device.busy, 39);
  EXPECT_EQ(device.idle, 55);
  EXPECT_EQ(device.gaps, 2);
  EXPECT_EQ(device.longest, 51);
  EXPECT_THAT(rows(device),
              ElementsAre("cudaMalloc 30 in 1", "<Other> in aten::relu 10 in 1", "<Launch latency> 6 in 1",
                          "<Queue gap> 4 in 1", "<Other> 3 in 1", "cudaStreamSynchronize 2 in 1"));
  EXPECT_EQ(device.rows[0].cause, IdleCause::kHostCall);
  EXPECT_DOUBLE_EQ(device.rows[0].share, 30.0 / 94);
}

TEST(IdleTime, CountsOverlappingStreamsOnce) {
  ProgramTrace program;
  program.launch("a", 0, 5, 30, 8);
  program.launch("b", 3, 10, 20, 9);
  program.launch("c", 6, 25, 40, 10);
  const DeviceIdle device = idle_time(program.finish()).devices.at(0);
  EXPECT_EQ(device.idle, 0);
  EXPECT_EQ(device.busy, 35);
  EXPECT_THAT(device.rows, IsEmpty());
}

TEST(IdleTime, NamesOtherDevicesAndHostFunctions) {
  ProgramTrace program;
  program.launch("a", 0, 5, 20, 8);
  program.launch("other", 3, 20, 60, 9).device = 1;
  const int64_t record = program.record_event(9, 6);
  program.trace().event_records.back().device = 1;
  program.make_stream_wait(8, record, 8);
  program.launch("b", 10, 61, 70, 8);
  program.host(HostKind::kHostFunction, "callback", 71, 90, 2, program.call("cudaLaunchHostFunc", 13, 14));
  program.launch("c", 16, 92, 99, 8);
  const IdleTime idle = idle_time(program.finish());
  ASSERT_EQ(idle.devices.size(), 2U);
  EXPECT_THAT(rows(idle.devices[0]), ElementsAre("other 40 in 1", "callback 19 in 1", "<Queue gap> 4 in 2"));
  EXPECT_EQ(idle.devices[0].rows[0].cause, IdleCause::kOtherDevice);
  EXPECT_EQ(idle.devices[0].rows[1].cause, IdleCause::kHostFunction);
  EXPECT_EQ(idle.devices[1].idle, 0);
}

TEST(IdleTime, SplitsTheProfilersOwnTimeOff) {
  ProgramTrace program;
  program.launch("a", 0, 5, 20, 8);
  program.call("cudaMalloc", 10, 50);
  program.host(HostKind::kOverhead, "Buffer Flush", 30, 45);
  program.launch("b", 50, 55, 60, 8);
  EXPECT_THAT(rows(idle_time(program.finish()).devices.at(0)),
              ElementsAre("<Profiler overhead> 15 in 1", "cudaMalloc 15 in 1", "<Launch latency> 5 in 1"));
}

TEST(IdleTime, OfASpanHasABeginAndAnEnd) {
  ProgramTrace program;
  program.launch("a", 10, 20, 30, 8);
  program.launch("b", 40, 50, 60, 8);
  const trace::Trace& trace = program.finish();
  const DeviceIdle all = idle_time(trace, Span{0, 100}).devices.at(0);
  EXPECT_THAT(rows(all),
              ElementsAre("<After the last operation> 40 in 1", "<Before the first operation> 20 in 1",
                          "<Launch latency> 10 in 1", "<Other> 10 in 1"));
  EXPECT_EQ(all.rows[0].cause, IdleCause::kAfterLast);
  EXPECT_EQ(all.idle + all.busy, 100);
  const DeviceIdle part = idle_time(trace, Span{25, 45}).devices.at(0);
  EXPECT_THAT(rows(part), ElementsAre("<Other> 10 in 1", "<Launch latency> 5 in 1"));
  EXPECT_EQ(part.busy, 5);
}

TEST(IdleTime, SaysWhatItDoesNotKnow) {
  ProgramTrace program;
  program.kernel(1, "a", 10, 20, 8);
  program.kernel(2, "b", 50, 60, 9);
  EXPECT_THAT(rows(idle_time(program.finish()).devices.at(0)), ElementsAre("<Unknown> 30 in 1"));
}

TEST(IdleTime, HasAJsonForm) {
  ProgramTrace program;
  program.launch("a", 0, 5, 20, 8);
  program.launch("b", 30, 35, 40, 8);
  const Json json = to_json(idle_time(program.finish()));
  EXPECT_EQ(json["devices"][0]["idle_ns"], 15);
  EXPECT_EQ(json["devices"][0]["causes"][0]["cause"], "host_other");
  EXPECT_EQ(json["devices"][0]["causes"][0]["time_ns"], 10);
}

}  // namespace
}  // namespace hone::analysis
