// Replays give the measured wall time when nothing changes, and what a person would work out when it does.
#include "analysis/questions/what_if.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/program_trace.hpp"

namespace hone::analysis {
namespace {

using trace::CopyDirection;
using trace::MemoryKind;

class WhatIfTest : public ::testing::Test {
 protected:
  /// The wall time with operations of a name `factor` times as fast.
  Time faster(const std::string& name, double factor, OperationKind kind = OperationKind::kKernel) {
    const EventGraph graph = build_event_graph(program_.finish());
    Changes changes;
    changes.faster = {kind, program_.trace().strings.find(name), factor};
    return Replay(graph).wall(changes);
  }
  Time unchanged() {
    const EventGraph graph = build_event_graph(program_.finish());
    return Replay(graph).wall({});
  }
  Time overlapped() {
    const EventGraph graph = build_event_graph(program_.finish());
    Changes changes;
    changes.overlap_copies = true;
    return Replay(graph).wall(changes);
  }
  Time without_waits(const std::string& name) {
    const EventGraph graph = build_event_graph(program_.finish());
    Changes changes;
    changes.without_waits = program_.trace().strings.find(name);
    return Replay(graph).wall(changes);
  }

  ProgramTrace program_;
};

TEST_F(WhatIfTest, OfNothingIsNothing) {
  EXPECT_EQ(unchanged(), 0);
  EXPECT_TRUE(what_if(program_.trace()).rows.empty());
}

TEST_F(WhatIfTest, AFasterKernelShortensTheWaitForIt) {
  program_.launch("k", 0, 10, 110, 8);
  program_.wait_for_stream(8, 5, 115);
  program_.call("cudaFree", 120, 130);
  EXPECT_EQ(unchanged(), 130);
  EXPECT_EQ(faster("k", 2), 80);
  EXPECT_EQ(faster("k", 0), 30);
  EXPECT_EQ(faster("k", 0.5), 230);
  EXPECT_EQ(faster("k", 2, OperationKind::kCopy), 130);
}

TEST_F(WhatIfTest, AKernelOffThePathGivesNothing) {
  program_.launch("long", 0, 10, 110, 8);
  program_.launch("short", 3, 10, 60, 9);
  program_.wait_for_device(8, 112);
  EXPECT_EQ(faster("short", 0), 112);
  // And the long one no more than until the short one is the longest.
  EXPECT_EQ(faster("long", 0), 62);
}

TEST_F(WhatIfTest, TheHostLimitsFasterKernels) {
  for (int i = 0; i < 10; ++i) program_.launch("k", i * 10, 5 + i * 20, 25 + i * 20, 8);
  program_.wait_for_stream(8, 100, 207);
  EXPECT_EQ(unchanged(), 207);
  // The last launch begins at 90, and a launch takes 5 until its kernel begins; the wait's tail takes 2.
  EXPECT_EQ(faster("k", 0), 102);
  EXPECT_EQ(faster("k", 4), 102);
  EXPECT_EQ(faster("k", 2), 107);
}

TEST_F(WhatIfTest, OverlapsScaleWithWhatTheyOverlap) {
  program_.launch("a", 0, 10, 50, 8);
  program_.launch("b", 3, 30, 70, 8);  // begins half way through a
  EXPECT_EQ(faster("a", 2), 60);
}

TEST_F(WhatIfTest, CopiesMayRunBesideKernels) {
  const trace::Transfer transfer{64, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice,
                                 true};
  Time device = 10;
  for (int i = 0; i < 3; ++i) {
    program_.copy(program_.call("cudaMemcpyAsync", i * 2, i * 2 + 1), "copy", device, device + 30, transfer,
                  8);
    program_.launch("k", i * 2 + 1, device + 30, device + 100, 8);
    device += 100;
  }
  program_.wait_for_stream(8, 10, 310);
  EXPECT_EQ(unchanged(), 310);
  // Kernels of 70 one after another from the first one's launch on.
  EXPECT_EQ(overlapped(), 10 + 3 * 70 + 1);
}

TEST_F(WhatIfTest, OverlappedCopiesBlockNoThread) {
  const trace::Transfer transfer{64, CopyDirection::kDeviceToHost, MemoryKind::kDevice,
                                 MemoryKind::kPageable};
  program_.copy(program_.call("cudaMemcpy", 0, 5000), "copy", 1000, 4900, transfer, 8);
  program_.launch("k", 5100, 5200, 9000, 8);
  EXPECT_EQ(unchanged(), 9000);
  // The copy ends at 4900 beside the kernel, which begins 4900 sooner.
  EXPECT_EQ(overlapped(), 4900);
}

TEST_F(WhatIfTest, WhoWaitsForResultsWaitsForWhoMakesThem) {
  const trace::Transfer transfer{64, CopyDirection::kDeviceToHost, MemoryKind::kDevice, MemoryKind::kPinned,
                                 true};
  program_.launch("k", 0, 10, 110, 8);
  program_.copy(program_.call("cudaMemcpyAsync", 2, 3), "copy", 110, 130, transfer, 8);
  program_.wait_for_stream(8, 5, 130);
  program_.call("cudaMalloc", 130, 180);
  // The copy alone is saved: what comes after it needs what the kernel computed.
  EXPECT_EQ(overlapped(), 160);
}

TEST_F(WhatIfTest, BlockingCopiesOfResultsDoToo) {
  const trace::Transfer transfer{64, CopyDirection::kDeviceToHost, MemoryKind::kDevice,
                                 MemoryKind::kPageable};
  program_.launch("k", 0, 10, 110, 8);
  program_.copy(program_.call("cudaMemcpy", 2, 131), "copy", 110, 130, transfer, 8);
  program_.call("cudaMalloc", 131, 181);
  EXPECT_GE(overlapped(), 160);
}

TEST_F(WhatIfTest, EventsHoldOverlappedCopies) {
  const trace::Transfer transfer{64, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice,
                                 true};
  program_.copy(program_.call("cudaMemcpyAsync", 0, 1), "copy", 10, 60, transfer, 8);
  const int64_t record = program_.record_event(8, 2);
  program_.make_stream_wait(9, record, 4);
  program_.launch("k", 6, 61, 100, 9);
  EXPECT_EQ(overlapped(), 100);
}

TEST_F(WhatIfTest, WithoutAWaitTheHostRunsAhead) {
  program_.launch("a", 0, 10, 60, 8);
  program_.wait_for_stream(8, 5, 65);
  program_.call("cudaMalloc", 65, 95);
  program_.launch("b", 100, 110, 160, 8);
  EXPECT_EQ(unchanged(), 160);
  // b is launched at 45, begins when a ends, and takes 50.
  EXPECT_EQ(without_waits("cudaStreamSynchronize"), 110);
  EXPECT_EQ(without_waits("cudaMalloc"), 160);
}

TEST_F(WhatIfTest, AsksWhatMatters) {
  const trace::Transfer transfer{64, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice,
                                 true};
  program_.copy(program_.call("cudaMemcpyAsync", 0, 1), "copy", 10, 60, transfer, 8);
  program_.launch("k", 3, 60, 160, 8);
  program_.launch("off", 6, 12, 20, 9);
  program_.wait_for_device(10, 165);
  const WhatIfs answers = what_if(program_.finish());
  EXPECT_EQ(answers.wall, 165);
  ASSERT_EQ(answers.rows.size(), 6U);
  EXPECT_EQ(answers.rows[0].name, "k");
  EXPECT_EQ(answers.rows[0].factor, 0);
  EXPECT_EQ(answers.rows[0].gain, 100);
  EXPECT_DOUBLE_EQ(answers.rows[0].share, 100.0 / 165);
  EXPECT_FALSE(answers.rows[0].is_bound);
  for (const WhatIf& row : answers.rows) EXPECT_NE(row.name, "off");
  const auto wait = std::find_if(answers.rows.begin(), answers.rows.end(),
                                 [](const WhatIf& row) { return row.kind == ChangeKind::kNoWait; });
  ASSERT_NE(wait, answers.rows.end());
  EXPECT_EQ(wait->name, "cudaDeviceSynchronize");
  EXPECT_EQ(wait->gain, 5);  // the program still ends with its kernels
  EXPECT_TRUE(wait->is_bound);
  const Json json = to_json(answers);
  EXPECT_EQ(json["changes"][0]["change"], "faster");
  EXPECT_EQ(json["changes"][0]["gain_ns"], 100);
}

}  // namespace
}  // namespace hone::analysis
