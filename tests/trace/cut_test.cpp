// A window keeps what happened in it and what it launched.
#include "trace/cut.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "trace/collect/schedule.hpp"

namespace hone::trace {
namespace {

HostEvent call(Time start, Time end, int64_t correlation) {
  return {start, end, HostKind::kRuntimeApi, 0, 0, correlation};
}

DeviceEvent kernel(Time start, Time end, int64_t correlation, int32_t detail) {
  DeviceEvent event{start, end};
  event.correlation = correlation;
  event.detail = detail;
  return event;
}

TEST(Cut, KeepsWhatOverlapsOrWasLaunchedInAWindow) {
  Trace trace;
  trace.thread_index(1, 1);
  trace.host_events = {call(0, 5, 1), call(8, 12, 2), call(18, 19, 3), call(30, 31, 4)};
  // The second ran after its window; the last was launched long before but runs into the second window.
  trace.device_events = {kernel(6, 7, 1, 0), kernel(40, 50, 3, 1), kernel(21, 26, 99, 2)};
  trace.launches.resize(3);
  trace.launches[1].registers_per_thread = 11;
  trace.launches[2].registers_per_thread = 22;
  trace.host_events[1].detail = 1;
  trace.operators.resize(2);
  trace.operators[1].sequence = 33;
  trace.event_records = {{7, 1, 0, 1, 1, 1}, {8, 1, 0, 1, 1, 4}};
  Synchronization wait{11, 12, SyncKind::kStreamWaitEvent};
  wait.event_record = 7;
  trace.synchronizations = {wait, {32, 33, SyncKind::kContextSynchronize}};
  trace.thread_syncs = {{19, 22, ThreadOperation::kLock}, {21, 21, ThreadOperation::kUnlock}};
  trace.allocations = {{4}, {15}};
  trace.counter_samples = {{11}, {45}};
  cut(trace, {{10, 20}, {25, 28}});
  ASSERT_EQ(trace.host_events.size(), 2U);
  EXPECT_EQ(trace.host_events[0].correlation, 2);
  ASSERT_EQ(trace.device_events.size(), 2U);
  ASSERT_EQ(trace.operators.size(), 1U);
  EXPECT_EQ(trace.operators[static_cast<size_t>(trace.host_events[0].detail)].sequence, 33);
  ASSERT_EQ(trace.launches.size(), 2U);
  EXPECT_EQ(trace.launches[static_cast<size_t>(trace.device_events[0].detail)].registers_per_thread, 11);
  EXPECT_EQ(trace.launches[static_cast<size_t>(trace.device_events[1].detail)].registers_per_thread, 22);
  ASSERT_EQ(trace.event_records.size(), 1U);
  EXPECT_EQ(trace.event_records[0].id, 7);
  EXPECT_EQ(trace.synchronizations.size(), 1U);
  EXPECT_EQ(trace.thread_syncs.size(), 1U);
  EXPECT_EQ(trace.allocations.size(), 1U);
  EXPECT_EQ(trace.counter_samples.size(), 1U);
}

TEST(Clipped, EndsEverythingWhereTheWindowDoes) {
  Trace trace;
  trace.thread_index(1, 1);
  // Three kernels are launched at once and run one after the other, while the host waits for all.
  trace.host_events = {call(0, 1, 1), call(1, 2, 2), call(2, 3, 3), call(3, 40, 4)};
  trace.device_events = {kernel(10, 20, 1, -1), kernel(20, 30, 2, -1), kernel(30, 40, 3, -1)};
  trace.synchronizations = {{3, 40, SyncKind::kContextSynchronize}};
  normalize(trace);
  const Trace result = clipped(trace, {15, 30});
  ASSERT_EQ(result.device_events.size(), 2U);
  EXPECT_EQ(result.device_events[0].start, 15);
  EXPECT_EQ(result.device_events[1].end, 30);
  ASSERT_EQ(result.host_events.size(), 3U);
  EXPECT_EQ(result.host_events[0].correlation, 1);
  EXPECT_EQ(result.host_events[0].start, 15);
  EXPECT_EQ(result.host_events[0].end, 15);
  EXPECT_EQ(result.host_events[2].correlation, 4);
  EXPECT_EQ(result.host_events[2].end, 30);
  EXPECT_EQ(result.synchronizations[0].start, 15);
}

TEST(Cut, LeavesOutWhatOnlyTouchesAWindow) {
  Trace trace;
  trace.thread_index(1, 1);
  trace.host_events = {call(0, 10, 1), call(10, 10, 2), call(20, 30, 3), call(15, 20, 4)};
  cut(trace, {{10, 20}});
  ASSERT_EQ(trace.host_events.size(), 2U);
  EXPECT_EQ(trace.host_events[0].correlation, 2);
  EXPECT_EQ(trace.host_events[1].correlation, 4);
}

TEST(Cut, CutsRangesAndKeepsCallsWhole) {
  Trace trace;
  trace.thread_index(1, 1);
  trace.host_events = {{0, 100, HostKind::kRange},
                       {15, 45, HostKind::kRange},
                       {0, 12, HostKind::kRange},
                       {16, 18, HostKind::kRange},
                       call(5, 45, 1)};
  cut(trace, {{10, 20}, {30, 40}});
  const std::vector<Span> expected = {{10, 40}, {15, 40}, {10, 12}, {16, 18}, {5, 45}};
  ASSERT_EQ(trace.host_events.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(trace.host_events[i].start, expected[i].start) << i;
    EXPECT_EQ(trace.host_events[i].end, expected[i].end) << i;
  }
}

TEST(Schedule, CountsItsIterationsAsTorchProfilerDoes) {
  // schedule(wait=1, warmup=2, active=3, repeat=2): steps 3, 4, 5 and 9, 10, 11 are recorded.
  const Schedule schedule{1, 2, 3, 2};
  EXPECT_EQ(schedule.iterations(), 12);
  EXPECT_EQ(first_active(schedule), (std::vector<int64_t>{3, 9}));
}

TEST(Schedule, RefusesNumbersOutOfRange) {
  EXPECT_THROW(check_schedule({-1, 0, 1, 1}), Error);
  EXPECT_THROW(check_schedule({0, 0, 0, 1}), Error);
  EXPECT_THROW(check_schedule({0, 0, 1, 0}), Error);
  EXPECT_NO_THROW(check_schedule({0, 0, 1, 1}));
}

}  // namespace
}  // namespace hone::trace
