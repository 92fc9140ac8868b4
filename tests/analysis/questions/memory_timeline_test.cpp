// Memory over time: the peak, who was alive at it, and what the recording did not see.
#include "analysis/questions/memory_timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/random_trace.hpp"

namespace hone::analysis {
namespace {

using support::TraceBuilder;

DeviceMemory follow(const trace::Trace& trace) { return follow_memory(trace, {0, 1000}).devices.at(0); }

TEST(MemoryTimeline, FindsThePeakAndItsMakers) {
  TraceBuilder b;
  b.op("aten::conv2d", 0, 100);
  b.op("aten::empty", 10, 20);
  b.op("aten::relu", 200, 300);
  b.allocate(15, 0xa, 500);
  b.allocate(50, 0xb, 300);
  b.allocate(60, 0xb, -300);
  b.allocate(250, 0xc, 400);
  b.allocate(400, 0xa, -500);
  b.allocate(500, 0xd, 100);
  const DeviceMemory memory = follow(b.build());
  EXPECT_EQ(memory.peak, 900);
  EXPECT_EQ(memory.peak_time, 250);
  EXPECT_FALSE(memory.by_allocator);
  ASSERT_EQ(memory.at_peak.size(), 2U);
  EXPECT_EQ(memory.at_peak[0].name, "aten::conv2d (aten::empty)");
  EXPECT_EQ(memory.at_peak[0].bytes, 500);
  EXPECT_EQ(memory.at_peak[1].name, "aten::relu");
  EXPECT_EQ(memory.live_at_end, 500);
  EXPECT_EQ(memory.allocations, 4);
  EXPECT_EQ(memory.frees, 2);
  EXPECT_EQ(to_json(follow_memory(b.trace, {0, 1000}))["devices"][0]["at_peak"][1]["bytes"], 400);
}

TEST(MemoryTimeline, TheAllocatorKnowsWhatWasThereBefore) {
  TraceBuilder b;
  b.allocate(10, 0xa, 100, 5100, 8000);
  b.allocate(20, 0xb, -700, 4400, 8000);  // allocated before the recording
  b.allocate(30, 0xc, 1000, 5400, 9000);
  const DeviceMemory memory = follow(b.build());
  EXPECT_TRUE(memory.by_allocator);
  EXPECT_EQ(memory.peak, 5400);
  EXPECT_EQ(memory.reserved_peak, 9000);
  EXPECT_EQ(memory.unknown_frees, 1);
  EXPECT_EQ(memory.older_at_peak, 5400 - 1100);
  EXPECT_EQ(memory.at_peak.at(0).name, "unknown");
}

TEST(MemoryTimeline, WithoutAddressesSumsCountFromTheirLowest) {
  TraceBuilder b;
  b.allocate(10, 0, -700);
  b.allocate(20, 0, 1000);
  b.allocate(30, 0, -800);
  const DeviceMemory memory = follow(b.build());
  EXPECT_FALSE(memory.addressed);
  EXPECT_EQ(memory.peak, 1000);
  EXPECT_EQ(memory.peak_time, 20);
  EXPECT_EQ(memory.live_at_end, 200);
  EXPECT_EQ(memory.unknown_frees, 0);
  EXPECT_TRUE(memory.at_peak.empty());
  EXPECT_EQ(memory.curve.front().allocated, 0);
}

TEST(MemoryTimeline, AnAddressUsedAgainWasReleased) {
  TraceBuilder b;
  b.allocate(10, 0xa, 100);
  b.trace.allocations.back().source = b.trace.strings.intern("cudaMalloc");
  b.allocate(20, 0xa, 70);
  b.trace.allocations.back().source = b.trace.strings.intern("cudaMalloc");
  const DeviceMemory memory = follow(b.build());
  EXPECT_EQ(memory.peak, 100);
  EXPECT_EQ(memory.live_at_end, 70);
  EXPECT_EQ(memory.at_peak.at(0).name, "cudaMalloc");
}

TEST(MemoryTimeline, DevicesAndThreadsAreKeptApart) {
  TraceBuilder b;
  b.op("first thread", 0, 100);
  b.on_thread(2).op("second thread", 0, 100);
  b.allocate(50, 0xa, 10);
  b.on_thread(1).on_device(1).allocate(60, 0xa, 20);
  b.on_thread(3).allocate(70, 0xb, 30);
  const MemoryTimeline timeline = follow_memory(b.build(), {0, 1000});
  ASSERT_EQ(timeline.devices.size(), 2U);
  EXPECT_EQ(timeline.devices[0].at_peak.at(0).name, "second thread");
  ASSERT_EQ(timeline.devices[1].at_peak.size(), 2U);
  EXPECT_EQ(timeline.devices[1].at_peak[0].name, "unknown");
  EXPECT_EQ(timeline.devices[1].at_peak[1].name, "first thread");
}

TEST(MemoryTimeline, CountsWhatWasThereWhenTheWindowBegan) {
  TraceBuilder b;
  b.allocate(10, 0xa, 500);
  b.allocate(900, 0xa, -500);
  const trace::Trace& trace = b.build();
  for (const Span window : {Span{100, 200}, Span{100, 950}}) {
    const DeviceMemory memory = follow_memory(trace, window).devices.at(0);
    EXPECT_EQ(memory.peak, 500);
    EXPECT_EQ(memory.peak_time, 100);
    ASSERT_EQ(memory.at_peak.size(), 1U);
    EXPECT_EQ(memory.at_peak[0].bytes, 500);
  }
  EXPECT_EQ(follow_memory(trace, {950, 960}).devices.at(0).peak, 0);
}

TEST(MemoryTimeline, AddressesAreAProcessesOwn) {
  TraceBuilder b;
  b.allocate(10, 0xa, 100, 100);
  b.trace.allocations.back().thread = b.trace.thread_index(2, 2);
  b.allocate(20, 0xa, 300, 300);
  b.allocate(30, 0xa, -300, 0);
  DeviceMemory memory = follow(b.build());
  EXPECT_EQ(memory.peak, 400);
  EXPECT_EQ(memory.unknown_frees, 0);
  EXPECT_EQ(memory.live_at_end, 100);
  for (trace::Allocation& allocation : b.trace.allocations) allocation.total_allocated = trace::kNone;
  memory = follow(b.trace);
  EXPECT_EQ(memory.peak, 400);
}

TEST(MemoryTimeline, OfRandomAllocationsAgreesWithCounting) {
  base::Random random(8);
  for (int round = 0; round < 100; ++round) {
    TraceBuilder b;
    std::map<int64_t, int64_t> alive;
    int64_t total = 0;
    int64_t peak = 0;
    for (Time time = 1; time < 1000; ++time) {
      const auto address = 1 + static_cast<int64_t>(random.below(40));
      if (const auto entry = alive.find(address); entry != alive.end()) {
        b.allocate(time, address, -entry->second);
        total -= entry->second;
        alive.erase(entry);
      } else {
        const int64_t bytes = 1 + static_cast<int64_t>(random.below(1000));
        b.allocate(time, address, bytes);
        alive[address] = bytes;
        total += bytes;
      }
      peak = std::max(peak, total);
    }
    const DeviceMemory memory = follow(b.build());
    EXPECT_EQ(memory.peak, peak);
    EXPECT_EQ(memory.live_at_end, total);
    int64_t owned = 0;
    for (const MemoryOwner& owner : memory.at_peak) owned += owner.bytes;
    EXPECT_EQ(owned, peak);
    EXPECT_EQ(memory.older_at_peak, 0);
    EXPECT_LE(memory.curve.size(), 512U);
    const auto highest = std::max_element(
        memory.curve.begin(), memory.curve.end(),
        [](const MemoryPoint& a, const MemoryPoint& b) { return a.allocated < b.allocated; });
    EXPECT_EQ(highest->allocated, peak);
  }
}

}  // namespace
}  // namespace hone::analysis
