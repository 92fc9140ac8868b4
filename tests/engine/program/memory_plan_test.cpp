// The memory plan: buffers alive together never overlap, and sharing is found where it exists.
#include "engine/program/memory_plan.hpp"

#include <gtest/gtest.h>

#include <random>

#include "base/error.hpp"

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

TEST(MemoryPlan, SizesThatOverflowAreRefused) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  EXPECT_THROW(plan_memory({{kHuge, 0, 1}, {kHuge, 1, 2}, {kHuge, 1, 3}}), Error);
  EXPECT_THROW(plan_memory({{kHuge, 0, 1}, {kHuge, 2, 3}, {kHuge, 0, 3}}), Error);
}

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

TEST(MemoryPlan, VeryManyBuffersArePlacedInTime) {
  std::vector<BufferLife> chain;
  for (int32_t i = 0; i < 100'000; ++i) chain.push_back({1000, i, i + 1});
  const MemoryPlan plan = plan_memory(chain);
  EXPECT_EQ(plan.peak_bytes, 2048);
  EXPECT_EQ(plan.naive_bytes, 102'400'000);
  for (size_t i = 1; i < chain.size(); ++i) ASSERT_NE(plan.offsets[i - 1], plan.offsets[i]);

  std::mt19937 random(11);
  std::vector<BufferLife> buffers(4200);
  for (BufferLife& buffer : buffers) {
    buffer.bytes = static_cast<int64_t>(random() % 5000);
    buffer.first = static_cast<int32_t>(random() % 900);
    buffer.last = buffer.first + static_cast<int32_t>(random() % 30);
  }
  const MemoryPlan mixed = plan_memory(buffers);
  expect_valid(buffers, mixed);
  EXPECT_GE(mixed.peak_bytes, mixed.lower_bound_bytes);
  EXPECT_LE(mixed.peak_bytes, 2 * mixed.lower_bound_bytes);
}

}  // namespace
}  // namespace hone::engine
