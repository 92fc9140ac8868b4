// Layers: kernels inside and outside CUDA graphs, steps of an engine on the CPU, floors, and sums that
// reconcile.
#include "analysis/questions/layers.hpp"

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

void add_kernel(Trace& t, const char* name, Time start, Time end, int64_t correlation, int64_t node = kNone) {
  DeviceEvent event{start, end, trace::DeviceKind::kKernel, t.strings.intern(name)};
  event.correlation = correlation;
  event.graph_node = node;
  t.device_events.push_back(event);
}

LayerTable table_of(Trace& t) {
  normalize(t);
  return analyze_layers(t, find_steps(t));
}

/// Two iterations; conv runs inside a graph in both, relu outside of one, and a kernel of nobody.
Trace gpu_trace() {
  Trace t;
  t.devices.push_back({0, t.strings.intern("NVIDIA H200")});
  t.metadata["precision"] = "fp16";
  t.graph_nodes.push_back({5, 1, kNone, t.strings.intern("conv")});
  t.model_steps.push_back({t.strings.intern("conv"), t.strings.intern("Conv"), 0, 0, 0, 0, 7.9e6, 4.3e3});
  t.model_steps.push_back({t.strings.intern("relu")});
  for (int i = 0; i < 2; ++i) {
    const Time at = 1000 + i * 1000;
    add_host(t, HostKind::kStep, i == 0 ? "ProfilerStep#0" : "ProfilerStep#1", at, at + 900);
    add_host(t, HostKind::kRuntimeApi, "cudaGraphLaunch", at + 10, at + 20, 100 + i);
    add_kernel(t, "gemm", at + 100, at + 200 + 10 * i, 100 + i, 5);
    add_kernel(t, "gemm", at + 300, at + 350, 100 + i, 5);
    add_host(t, HostKind::kRange, "relu", at + 400, at + 440);
    add_host(t, HostKind::kRuntimeApi, "cudaLaunchKernel", at + 410, at + 420, 200 + i);
    add_kernel(t, "relu_kernel", at + 500, at + 530, 200 + i);
    add_host(t, HostKind::kRuntimeApi, "cudaLaunchKernel", at + 450, at + 460, 300 + i);
    add_kernel(t, "nobody's", at + 520, at + 560, 300 + i);
  }
  return t;
}

TEST(Layers, GetKernelsByGraphNodeAndByRange) {
  Trace t = gpu_trace();
  const LayerTable table = table_of(t);
  ASSERT_EQ(table.layers.size(), 2U);
  EXPECT_EQ(table.layers[0].name, "conv");
  EXPECT_EQ(table.layers[0].kind, "Conv");
  EXPECT_EQ(table.layers[0].time.n, 2);
  EXPECT_EQ(table.layers[0].time.min, 150);
  EXPECT_EQ(table.layers[0].time.max, 160);
  ASSERT_EQ(table.layers[0].kernels.size(), 1U);
  EXPECT_EQ(table.layers[0].kernels[0].calls, 2);
  EXPECT_EQ(table.layers[1].name, "relu");
  EXPECT_EQ(table.layers[1].time.p50, 30);
}

TEST(Layers, ReconcileWithTheIteration) {
  Trace t = gpu_trace();
  const LayerTable table = table_of(t);
  EXPECT_EQ(table.layer_sum.min, 180);
  EXPECT_EQ(table.other_device.p50, 40);
  EXPECT_EQ(table.device_busy.min, 210);  // the last two overlap by 10
  EXPECT_EQ(table.host.p50, 900);
  EXPECT_EQ(table.iteration.p50, 900);
}

TEST(Layers, TakeNothingThatWasLaunchedAfterTheStep) {
  Trace t = gpu_trace();
  add_host(t, HostKind::kRuntimeApi, "cudaLaunchKernel", 2820, 2830, 400);
  add_kernel(t, "slow", 2850, 3400, 400);  // the last iteration lasts to its end
  add_host(t, HostKind::kRange, "eval", 2950, 2990);
  add_host(t, HostKind::kRuntimeApi, "cudaLaunchKernel", 2960, 2970, 401);
  add_kernel(t, "of eval", 3400, 3500, 401);
  const LayerTable table = table_of(t);
  EXPECT_EQ(table.layers.size(), 2U);
  EXPECT_EQ(table.other_device.max, 40 + 550);
  EXPECT_EQ(table.iteration.max, 1400);
}

TEST(Layers, HaveAFloorWhereWorkAndRatesAreKnown) {
  Trace t = gpu_trace();
  const LayerTable table = table_of(t);
  EXPECT_NEAR(table.layers[0].floor, 10, 1e-9);  // 7.9e6 / 790e12 s, above 4.3e3 / 4.3e12 s
  EXPECT_NEAR(table.layers[0].over_floor(), 15, 1e-9);
  EXPECT_EQ(table.layers[1].floor, 0);
  Trace without_bytes = gpu_trace();
  without_bytes.model_steps[0].bytes = 0;
  EXPECT_EQ(table_of(without_bytes).layers[0].floor, 0) << "memory may well be what bounds it";
  t.devices[0].name = t.strings.intern("Another GPU");
  EXPECT_EQ(table_of(t).layers[0].floor, 0) << "no rates are made up";
}

TEST(Layers, OnTheCpuAreTheStepsOfTheEngine) {
  Trace t;
  add_host(t, HostKind::kStep, "ProfilerStep#0", 0, 100);
  add_host(t, HostKind::kEngineStep, "conv", 10, 40);
  add_host(t, HostKind::kEngineStep, "relu", 50, 60);
  const LayerTable table = table_of(t);
  ASSERT_EQ(table.layers.size(), 2U);
  EXPECT_EQ(table.layers[0].time.p50, 30);
  EXPECT_EQ(table.layer_sum.p50, 40);
  EXPECT_EQ(table.host.p50, 100);
}

TEST(Layers, OfAnEngineThatLaunchesFromItsStepsAreWhatTheyLaunched) {
  Trace t;
  for (int i = 0; i < 2; ++i) {
    const Time at = 1000 + i * 1000;
    add_host(t, HostKind::kStep, i == 0 ? "ProfilerStep#0" : "ProfilerStep#1", at, at + 900);
    add_host(t, HostKind::kEngineStep, "conv", at + 10, at + 400);
    add_host(t, HostKind::kOperator, "aten::conv2d", at + 15, at + 395);
    add_host(t, HostKind::kRuntimeApi, "cudaLaunchKernel", at + 20, at + 30, 100 + i);
    add_kernel(t, "gemm", at + 100, at + 170, 100 + i);
    add_host(t, HostKind::kEngineStep, "reshape", at + 410, at + 440);
  }
  const LayerTable table = table_of(t);
  ASSERT_EQ(table.layers.size(), 1U);
  EXPECT_EQ(table.layers[0].name, "conv");
  EXPECT_EQ(table.layers[0].time.p50, 70);
  EXPECT_EQ(table.layer_sum.p50, table.device_busy.p50);
}

TEST(Layers, AreNoneWhereNothingWasAnnounced) {
  Trace t;
  add_kernel(t, "gemm", 10, 20, 1);
  const LayerTable table = table_of(t);
  EXPECT_TRUE(table.layers.empty());
  EXPECT_EQ(table.notes.size(), 1U);
  EXPECT_EQ(to_json(table)["other_device"]["median_ns"], 10);
}

}  // namespace
}  // namespace hone::analysis
