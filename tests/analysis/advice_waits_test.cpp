// Rules about copies, sets and synchronization: each with a trace that fires it and one that does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice_support.hpp"

namespace hone::analysis {
namespace {

using support::CopyDirection;
using support::MemoryKind;
using support::TraceBuilder;
using ::testing::HasSubstr;

struct Copy {
  const char* call = "cudaMemcpyAsync";
  MemoryKind source = MemoryKind::kPinned;
  CopyDirection direction = CopyDirection::kHostToDevice;
  Time call_time = 200;
};

TraceBuilder copying(const Copy& copy) {
  TraceBuilder b;
  b.api(copy.call, 0, copy.call_time, 1);
  support::Transfer& transfer = b.copy(copy.direction, 4096, 100, 190, 1);
  transfer.source = copy.source;
  transfer.destination = MemoryKind::kDevice;
  b.kernel("k", 190, 1000);
  return b;
}

bool fires(const char* rule, const Copy& copy) {
  TraceBuilder b = copying(copy);
  return advice_of(b, rule).has_value();
}

TEST(AdvicePageableCopies, WhereAsynchronousOnesWait) {
  TraceBuilder b = copying({.source = MemoryKind::kPageable});
  const auto advice = advice_of(b, "pageable-copies");
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->gain, 200);
  EXPECT_THAT(all_text(*advice), HasSubstr("4.096 kB HtoD, pageable to device"));
  EXPECT_EQ(advice->evidence.at(1).place.start, 100);
  EXPECT_FALSE(fires("pageable-copies", {}));
  EXPECT_FALSE(fires("pageable-copies", {.call = "cudaMemcpy", .source = MemoryKind::kPageable}));
  EXPECT_FALSE(fires("pageable-copies", {.source = MemoryKind::kPageable, .call_time = 5}));
  TraceBuilder unknown;
  unknown.copy(CopyDirection::kHostToDevice, 8, 0, 100);
  EXPECT_TRUE(is_unjudged(unknown, "pageable-copies"));
}

TEST(AdviceSynchronousCopies, ButNotWithinTheDevice) {
  EXPECT_TRUE(fires("synchronous-copies", {.call = "cudaMemcpy_v3020"}));
  EXPECT_TRUE(fires("synchronous-copies", {.call = "cuMemcpyHtoD_v2"}));
  EXPECT_FALSE(fires("synchronous-copies", {}));
  EXPECT_FALSE(
      fires("synchronous-copies", {.call = "cudaMemcpy", .direction = CopyDirection::kDeviceToDevice}));
}

TEST(AdviceSynchronousSets, OfPinnedAndManagedMemory) {
  const auto fires = [](const char* call, MemoryKind kind) {
    TraceBuilder b;
    b.api(call, 0, 300, 1);
    b.set(4096, 100, 290, 1).destination = kind;
    return advice_of(b, "synchronous-sets").has_value();
  };
  EXPECT_TRUE(fires("cudaMemset", MemoryKind::kManaged));
  EXPECT_TRUE(fires("cudaMemset", MemoryKind::kPinned));
  EXPECT_FALSE(fires("cudaMemset", MemoryKind::kDevice));
  EXPECT_FALSE(fires("cudaMemsetAsync", MemoryKind::kManaged));
}

TEST(AdviceSynchronization, CountsWhatRunsDryAfterIt) {
  const auto trace = [](const char* call, Time next) {
    TraceBuilder b;
    b.kernel("a", 0, 400);
    b.api(call, 100, 410);
    b.kernel("b", next, 1000);
    return b;
  };
  TraceBuilder dry = trace("cudaDeviceSynchronize", 600);
  const auto advice = advice_of(dry, "synchronization");
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->gain, 200);
  EXPECT_THAT(all_text(*advice), HasSubstr("1 synchronizing calls, 310 ns in all; the GPU ran dry 1 times"));
  EXPECT_EQ(advice->evidence.at(1).place.start, 400);
  TraceBuilder fed = trace("cudaDeviceSynchronize", 400);
  EXPECT_FALSE(advice_of(fed, "synchronization").has_value());
  TraceBuilder event = trace("cudaEventSynchronize", 600);
  EXPECT_FALSE(advice_of(event, "synchronization").has_value());
}

}  // namespace
}  // namespace hone::analysis
