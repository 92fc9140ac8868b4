// Causes of the GPU's waits inside iterations, and not between them.
#include "analysis/questions/iteration_idle.hpp"

#include <gtest/gtest.h>

namespace hone::analysis {
namespace {

using trace::DeviceEvent;
using trace::HostKind;
using trace::kNone;
using trace::Trace;

void add_host(Trace& t, HostKind kind, const char* name, Time start, Time end, int64_t correlation = kNone) {
  t.host_events.push_back({start, end, kind, t.strings.intern(name), t.thread_index(1, 1), correlation});
}

void add_kernel(Trace& t, Time start, Time end, int64_t correlation) {
  DeviceEvent event{start, end, trace::DeviceKind::kKernel, t.strings.intern("kernel")};
  event.correlation = correlation;
  event.stream = 7;
  t.device_events.push_back(event);
}

/// Two iterations of 1000 ns. In each: a kernel; then the host takes 100 ns by itself, allocates for 50 and
/// launches; the second kernel begins 40 ns after the launch did.
Trace two_iterations() {
  Trace t;
  for (int i = 0; i < 2; ++i) {
    const Time at = 10'000 + i * 5000;
    const int64_t id = 10 * (i + 1);
    add_host(t, HostKind::kStep, i == 0 ? "ProfilerStep#0" : "ProfilerStep#1", at, at + 1000);
    add_host(t, HostKind::kRuntimeApi, "cudaLaunchKernel", at, at + 20, id);
    add_kernel(t, at + 100, at + 300, id);
    add_host(t, HostKind::kRuntimeApi, "cudaDeviceSynchronize", at + 250, at + 300, id + 1);
    add_host(t, HostKind::kRuntimeApi, "cudaMalloc", at + 400, at + 450, id + 2);
    add_host(t, HostKind::kRuntimeApi, "cudaLaunchKernel", at + 450, at + 470, id + 3);
    add_kernel(t, at + 490, at + 900, id + 3);
  }
  normalize(t);
  return t;
}

TEST(IterationIdle, TellsLaunchesCallsAndTheHostApart) {
  const Trace t = two_iterations();
  const IterationIdle idle = iteration_idle(build_event_graph(t), find_steps(t));
  // The second iteration's first launch ends an idle time that began outside of it: 100 ns for the first
  // kernel to begin, in one of two iterations.
  EXPECT_DOUBLE_EQ(idle.launches, 40 + 100 / 2.0);
  EXPECT_DOUBLE_EQ(idle.calls, 50);
  // 100 ns in each, and the tail of the first iteration, in which the device had nothing to do.
  EXPECT_DOUBLE_EQ(idle.host, 100 + 100 / 2.0);
  EXPECT_DOUBLE_EQ(idle.gaps + idle.unknown, 0);
}

TEST(IterationIdle, IsNothingWithoutADevice) {
  Trace t;
  add_host(t, HostKind::kStep, "ProfilerStep#0", 0, 100);
  normalize(t);
  EXPECT_EQ(iteration_idle(build_event_graph(t), find_steps(t)).sum(), 0);
}

}  // namespace
}  // namespace hone::analysis
