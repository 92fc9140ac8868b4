// Properties of every trace: charges of the critical path fill the wall time, causes fill the idle time, and
// a replay of the unchanged program takes as long as the program.
#include <gtest/gtest.h>

#include "analysis/questions/critical_path.hpp"
#include "analysis/questions/idle_time.hpp"
#include "analysis/questions/what_if.hpp"
#include "analysis/random_program.hpp"

namespace hone::analysis {
namespace {

constexpr uint64_t kPrograms = 300;

/// A failing case is repeated with --gtest_filter and its seed, which the message names.
void check_all(const trace::Trace& trace, uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const EventGraph graph = build_event_graph(trace);
  const CriticalPath path = critical_path(graph);
  EXPECT_EQ(path.wall, graph.window.end - graph.window.start);
  Time on_path = 0;
  for (const FunctionTime& row : path.functions) {
    on_path += row.on_path;
    EXPECT_GE(row.on_path, 0);
    EXPECT_GE(row.waiting, 0);
    EXPECT_GE(row.device_waiting, 0);
    EXPECT_GE(row.blame, 0);
  }
  EXPECT_EQ(on_path, path.wall);
  Time at = path.window.start;
  for (const PathSegment& segment : path.segments) {
    ASSERT_EQ(segment.span.start, at);
    ASSERT_LT(segment.span.start, segment.span.end);
    at = segment.span.end;
  }
  EXPECT_EQ(at, path.window.end);
  for (const DeviceIdle& device : idle_time(graph).devices) {
    Time idle = 0;
    for (const IdleRow& row : device.rows) idle += row.time;
    EXPECT_EQ(idle, device.idle);
    EXPECT_EQ(device.busy + device.idle, device.span.end - device.span.start);
  }
  const Replay replay(graph);
  EXPECT_EQ(replay.wall({}), path.wall);
  const WhatIfs answers = what_if(graph);
  for (const WhatIf& row : answers.rows) EXPECT_EQ(row.gain + row.wall, path.wall);
}

TEST(DependencyProperties, HoldOfRandomPrograms) {
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    RandomProgram program(seed);
    trace::normalize(program.trace());
    check_all(program.trace(), seed);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST(DependencyProperties, HoldOfDamagedTraces) {
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    RandomProgram program(seed);
    program.damage();
    trace::normalize(program.trace());
    check_all(program.trace(), seed);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST(DependencyProperties, NothingContradictsAProgramThatFollowsTheRules) {
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    RandomProgram program(seed);
    trace::normalize(program.trace());
    const EventGraph graph = build_event_graph(program.trace());
    for (const trace::Doubt& doubt : graph.doubts)
      EXPECT_EQ(doubt.severity, trace::Severity::kNote) << doubt.text << ", seed " << seed;
    for (const DeviceClock& clock : graph.clock.devices) EXPECT_EQ(clock.offset, 0) << "seed " << seed;
    if (HasFailure()) return;
  }
}

/// A dependency or a cause that was missed would leave a gap that is longer than any latency of the
/// simulation.
TEST(DependencyProperties, EveryWaitOfAProgramIsExplained) {
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProgram program(seed);
    trace::normalize(program.trace());
    const EventGraph graph = build_event_graph(program.trace());
    for (const Charge& charge : walk_from_end(graph)) {
      const Time length = charge.span.end - charge.span.start;
      EXPECT_NE(charge.kind, ChargeKind::kUnknown);
      // An operation that another one waited for may end while the launch of the other is still on the way to
      // the device.
      if (charge.kind == ChargeKind::kQueueGap || charge.kind == ChargeKind::kLaunchLatency) {
        EXPECT_LE(length, RandomProgram::kMaximumLatency);
        continue;
      }
      // The path left the first thread in the middle of a call.
      if (charge.span.end == RandomProgram::kLastCreation) continue;
      const std::string name = charge_name(graph, charge.kind, charge.name);
      if (name.ends_with("Synchronize") || name.starts_with("pthread_") || name.starts_with("sem_")) {
        EXPECT_LE(length, RandomProgram::kMaximumTail) << name;
      }
    }
    if (HasFailure()) return;
  }
}

TEST(DependencyProperties, FasterOperationsNeverMakeAProgramSlower) {
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    RandomProgram program(seed);
    trace::normalize(program.trace());
    for (const WhatIf& row : what_if(program.trace()).rows)
      EXPECT_GE(row.gain, 0) << row.name << " " << row.factor << ", seed " << seed;
    if (HasFailure()) return;
  }
}

/// Edges lead forward in the order in which the replay goes, whatever the trace.
TEST(DependencyProperties, EdgesLeadForward) {
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    RandomProgram program(seed);
    program.damage();
    trace::normalize(program.trace());
    const EventGraph graph = build_event_graph(program.trace());
    for (int32_t i = 0; i < static_cast<int32_t>(graph.operations.size()); ++i) {
      const Operation& operation = graph.operations[static_cast<size_t>(i)];
      for (const Dependency& dependency : graph.dependencies_of(i)) {
        const Operation& before = graph.operations[static_cast<size_t>(dependency.operation)];
        ASSERT_LT(dependency.operation, i);
        ASSERT_LE(before.enter, operation.enter);
        ASSERT_EQ(dependency.overlapping, before.leave > operation.enter);
      }
      if (operation.launch >= 0) {
        ASSERT_LE(graph.nodes[static_cast<size_t>(operation.launch)].time, operation.enter);
      }
    }
    const std::vector<bool> after = graph.nodes_after_others();
    const auto place = [&](int32_t node) {
      const auto i = static_cast<size_t>(node);
      return std::pair(graph.nodes[i].time, static_cast<bool>(after[i]));
    };
    for (const HostWait& wait : graph.waits) ASSERT_LE(wait.begin, wait.end);
    for (const HostNode& node : graph.nodes) {
      if (node.wait < 0 || graph.waits[static_cast<size_t>(node.wait)].source < 0) continue;
      const HostWait& wait = graph.waits[static_cast<size_t>(node.wait)];
      ASSERT_EQ(wait.end, node.time);
      ASSERT_LT(wait.begin, wait.end);
      ASSERT_LT(place(wait.source), place(static_cast<int32_t>(&node - graph.nodes.data())));
    }
    for (const HostThread& thread : graph.threads) {
      if (thread.creator >= 0) {
        ASSERT_LT(place(thread.creator), place(thread.nodes.begin));
      }
    }
    for (size_t i = 1; i < graph.nodes.size(); ++i) {
      if (graph.node_thread[i] == graph.node_thread[i - 1]) {
        ASSERT_LE(graph.nodes[i - 1].time, graph.nodes[i].time);
      }
    }
  }
}

}  // namespace
}  // namespace hone::analysis
