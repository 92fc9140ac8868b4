// From when to when a trace reaches.
#include <gtest/gtest.h>

#include "trace/trace.hpp"

namespace hone::trace {
namespace {

TEST(Extent, OfNothingIsZero) { EXPECT_EQ(extent(Trace()).end, 0); }

TEST(Extent, HoldsCallsKernelsAndWaitsOfThreads) {
  Trace trace;
  HostEvent call;
  call.start = 100;
  call.end = 200;
  trace.host_events.push_back(call);
  ThreadSync wait;
  wait.start = 20;
  wait.end = 150;
  trace.thread_syncs.push_back(wait);
  DeviceEvent kernel;
  kernel.start = 180;
  kernel.end = 230;
  trace.device_events.push_back(kernel);
  EXPECT_EQ(extent(trace).start, 20);
  EXPECT_EQ(extent(trace).end, 230);
}

}  // namespace
}  // namespace hone::trace
