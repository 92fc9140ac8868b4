// Clocks of devices are moved as little as makes launches come before operations and those before the ends of
// waits; what cannot be mended is counted.
#include "analysis/clock_repair.hpp"

#include <gtest/gtest.h>

#include "analysis/graph/event_graph.hpp"
#include "analysis/program_trace.hpp"

namespace hone::analysis {
namespace {

TEST(ClockRepair, LeavesAClockThatNothingContradicts) {
  const DeviceClock clock = solve_clock({0, {-5, -20}, {3, 40}});
  EXPECT_EQ(clock.offset, 0);
  EXPECT_EQ(clock.violations, 0);
  EXPECT_EQ(clock.launches, 2);
  EXPECT_EQ(clock.waits, 2);
}

TEST(ClockRepair, MovesAClockAsLittleAsPossible) {
  EXPECT_EQ(solve_clock({0, {7, -20}, {30}}).offset, 7);
  EXPECT_EQ(solve_clock({0, {-100}, {-40, 10}}).offset, -40);
  EXPECT_EQ(solve_clock({0, {12}, {}}).offset, 12);
  EXPECT_EQ(solve_clock({0, {}, {}}).offset, 0);
}

TEST(ClockRepair, MinimizesTheSumOfViolationsThatContradictEachOther) {
  // At 10 the launches are violated by 0, 0 and 20 and the wait by 1: the sum is 21, and 20 + slope
  // elsewhere.
  const DeviceClock clock = solve_clock({0, {9, 10, 30}, {9}});
  const auto sum = [](trace::Time offset) {
    trace::Time total = std::max<trace::Time>(0, offset - 9);
    for (const trace::Time bound : {9, 10, 30}) total += std::max<trace::Time>(0, bound - offset);
    return total;
  };
  for (trace::Time other = -5; other < 40; ++other) EXPECT_LE(sum(clock.offset), sum(other)) << other;
  EXPECT_EQ(clock.violations, 3);
  EXPECT_GT(clock.residual, 0);
  EXPECT_LT(clock.residual, 3);
}

TEST(ClockRepair, IsAppliedToTheOperationsOfItsDevice) {
  ProgramTrace program;
  program.launch("a", 5000, 4000, 4500, 8);  // 1 us before its launch
  program.wait_for_stream(8, 5003, 5900);
  program.launch("b", 6000, 6100, 6200, 8);
  trace::DeviceEvent& other = program.launch("c", 7000, 7100, 7200, 9);
  other.device = 1;
  const EventGraph graph = build_event_graph(program.finish());
  ASSERT_EQ(graph.clock.devices.size(), 2U);
  EXPECT_EQ(graph.clock.devices[0].offset, 1000);
  EXPECT_EQ(graph.clock.devices[0].violations, 1);
  EXPECT_EQ(graph.clock.devices[0].residual, 0);
  EXPECT_EQ(graph.operations[0].enter, 5000);
  EXPECT_EQ(graph.operations[1].leave, 7200);
  EXPECT_EQ(graph.clock.offset(1), 0);
  // The wait ends with the kernel on the host's clock.
  ASSERT_EQ(graph.waits.size(), 1U);
  EXPECT_EQ(graph.waits[0].end, 5500);
  EXPECT_EQ(to_json(graph.clock)[0]["offset_ns"], 1000);
}

TEST(ClockRepair, SaysWhatContradictsEvenSo) {
  ProgramTrace program;
  program.launch("a", 5000, 4000, 4500, 8);
  program.launch("b", 6000, 6010, 6100, 8);
  program.wait_for_stream(8, 6003, 6110);  // leaves 10 ns of room, 1000 are needed
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_GT(graph.clock.devices[0].residual, 0);
  EXPECT_EQ(graph.doubts.empty(), false);
}

}  // namespace
}  // namespace hone::analysis
