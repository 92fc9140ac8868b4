// A trace takes no more memory than it may, whatever a file holds.
#include "trace/format/kineto_builder.hpp"

#include <gtest/gtest.h>

namespace hone::trace {
namespace {

KinetoEvent operator_event(std::string_view name) {
  KinetoEvent event;
  event.phase = "X";
  event.category = "cpu_op";
  event.name = name;
  event.start = 1;
  event.duration = 1;
  return event;
}

/// How many events of a million were taken.
size_t taken(int64_t memory, bool long_names) {
  KinetoBuilder builder(memory);
  for (int i = 0; i < 1'000'000 && !builder.full(); ++i) {
    const std::string name = long_names ? std::string(10'000, 'x') + std::to_string(i) : "same";
    builder.add(operator_event(name));
  }
  const Trace trace = builder.finish();
  EXPECT_EQ(trace.doubts.size(), 1U);
  EXPECT_EQ(trace.doubts.at(0).severity, Severity::kLoss);
  return trace.host_events.size();
}

TEST(KinetoBuilder, StopsWhereTheMemoryEnds) {
  EXPECT_EQ(taken(512'000, false), 1000U);
  EXPECT_EQ(taken(1'063'900, true), 100U);  // each name takes 10,000 bytes and more
}

TEST(KinetoBuilder, CountsNoArrows) {
  KinetoBuilder builder(1000);
  KinetoEvent arrow;
  arrow.phase = "s";
  for (int i = 0; i < 1000; ++i) builder.add(arrow);
  EXPECT_FALSE(builder.full());
  EXPECT_TRUE(builder.finish().doubts.empty());
}

}  // namespace
}  // namespace hone::trace
