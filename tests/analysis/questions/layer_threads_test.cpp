// Threads of layers: how many were at work, and how evenly.
#include "analysis/questions/layer_threads.hpp"

#include <gtest/gtest.h>

namespace hone::analysis {
namespace {

using trace::HostKind;
using trace::Time;
using trace::Trace;

/// "conv" runs twice for 100 ns on two threads, the second of which does a third of the work; "relu" once on
/// one thread.
Trace two_layers() {
  Trace t;
  const int32_t first = t.thread_index(1, 1);
  const int32_t second = t.thread_index(1, 2);
  const auto step = [&](const char* name, Time start, Time end) {
    t.host_events.push_back({start, end, HostKind::kEngineStep, t.strings.intern(name), first});
  };
  const auto use = [&](Time start, Time end, int32_t thread, const char* counter, int64_t value) {
    t.thread_usages.push_back({start, end, thread, t.strings.intern(counter), value});
  };
  for (const Time at : {1000, 2000}) {
    step("conv", at, at + 100);
    use(at, at + 100, first, "CPU time", 90);
    use(at, at + 100, second, "CPU time", 30);
    use(at, at + 100, first, "instructions", 500);
    use(at, at + 100, second, "instructions", 100);
  }
  step("relu", 3000, 3050);
  use(3000, 3050, first, "CPU time", 50);
  use(9000, 9050, first, "CPU time", 50);  // of no step
  normalize(t);
  return t;
}

TEST(LayerThreads, SumOverThreadsAndIterations) {
  const LayerThreadTable table = analyze_layer_threads(two_layers());
  EXPECT_EQ(table.threads, 2);
  ASSERT_EQ(table.layers.size(), 2U);
  const LayerThreads& conv = table.layers[0];
  EXPECT_EQ(conv.name, "conv");
  EXPECT_EQ(conv.calls, 2);
  EXPECT_EQ(conv.wall, 200);
  EXPECT_EQ(conv.cpu, 240);
  EXPECT_DOUBLE_EQ(conv.parallelism(), 1.2);
  EXPECT_EQ(conv.instructions, 1200);
  EXPECT_FALSE(conv.cycles);
  EXPECT_DOUBLE_EQ(conv.imbalance, 1 - 120.0 / 180);
  EXPECT_DOUBLE_EQ(table.layers[1].imbalance, 0.5);  // one of two threads did it all
}

TEST(LayerThreads, AreNoneWhereNothingWasCounted) {
  Trace t = two_layers();
  t.thread_usages.clear();
  EXPECT_TRUE(analyze_layer_threads(t).layers.empty());
}

}  // namespace
}  // namespace hone::analysis
