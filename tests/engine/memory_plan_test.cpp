// The memory plan: buffers alive together never overlap, and sharing is found where it exists.
#include "engine/memory_plan.hpp"

#include <gtest/gtest.h>

#include <random>

namespace hone::engine {
namespace {

void expect_valid(const std::vector<BufferLife>& buffers, const MemoryPlan& plan) {
  for (size_t a = 0; a < buffers.size(); ++a) {
    EXPECT_EQ(plan.offsets[a] % 64, 0);
    EXPECT_LE(plan.offsets[a] + buffers[a].bytes, plan.peak_bytes);
    for (size_t b = 0; b < a; ++b) {
      const bool together = buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last;
      const bool overlap = plan.offsets[a] < plan.offsets[b] + buffers[b].bytes &&
                           plan.offsets[b] < plan.offsets[a] + buffers[a].bytes;
      EXPECT_FALSE(together && overlap) << a << " and " << b;
    }
  }
}

TEST(MemoryPlan, ChainNeedsTwoBuffers) {
  const std::vector<BufferLife> chain = {{1024, 0, 1}, {1024, 1, 2}, {1024, 2, 3}, {1024, 3, 4}};
  const MemoryPlan plan = plan_memory(chain);
  expect_valid(chain, plan);
  EXPECT_EQ(plan.peak_bytes, 2048);
  EXPECT_EQ(plan.naive_bytes, 4096);
  EXPECT_EQ(plan.lower_bound_bytes, 2048);
}

TEST(MemoryPlan, NothingNeedsNothing) { EXPECT_EQ(plan_memory({}).peak_bytes, 0); }

TEST(MemoryPlan, RandomLivesNeverOverlap) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<BufferLife> buffers(40);
    for (BufferLife& buffer : buffers) {
      buffer.bytes = 1 + static_cast<int64_t>(random() % 5000);
      buffer.first = static_cast<int32_t>(random() % 60);
      buffer.last = buffer.first + static_cast<int32_t>(random() % 12);
    }
    const MemoryPlan plan = plan_memory(buffers);
    expect_valid(buffers, plan);
    EXPECT_GE(plan.peak_bytes, plan.lower_bound_bytes);
    EXPECT_LE(plan.peak_bytes, plan.naive_bytes);
  }
}

}  // namespace
}  // namespace hone::engine
