// Traces that were recorded on an H200, with answers that were checked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "analysis/questions/critical_path.hpp"
#include "analysis/questions/gpu_usage.hpp"
#include "analysis/questions/idle_time.hpp"
#include "analysis/questions/kernel_metrics.hpp"
#include "analysis/questions/layers.hpp"
#include "analysis/questions/trace_diff.hpp"
#include "trace/store.hpp"

namespace hone::analysis {
namespace {

using trace::Trace;

/// tests/trace/data/<name>.sqlite.gz.
Trace recorded(const std::string& name) {
  const std::string packed = std::string(HONE_SOURCE_DIR) + "/tests/trace/data/" + name + ".sqlite.gz";
  const std::filesystem::path plain =
      std::filesystem::temp_directory_path() / (name + "-" + std::to_string(getpid()) + ".sqlite");
  gzFile file = gzopen(packed.c_str(), "rb");
  EXPECT_NE(file, nullptr) << packed;
  std::ofstream out(plain, std::ios::binary);
  std::array<char, 65536> bytes{};
  for (int n = 0; (n = gzread(file, bytes.data(), bytes.size())) > 0;) out.write(bytes.data(), n);
  gzclose(file);
  out.close();
  Trace trace = trace::read_store(plain);
  std::filesystem::remove(plain);
  return trace;
}

const FunctionTime& function(const CriticalPath& path, const std::string& part) {
  for (const FunctionTime& row : path.functions) {
    if (row.name.find(part) != std::string::npos) return row;
  }
  ADD_FAILURE() << "no " << part;
  return path.functions.front();
}

constexpr double kMillisecond = 1e6;

// known_path.cu: five rounds of a producer of 8 ms, beside it 3 ms, then a consumer of 5 ms that waits for
// both, a sleep of 4 ms and a copy.
TEST(Recorded, TheKnownPathIsFoundWithinTwoPerCent) {
  const CriticalPath path = critical_path(recorded("known_path"));
  EXPECT_NEAR(function(path, "spin_producer").on_path / kMillisecond, 5 * 8, 0.02 * 40);
  EXPECT_NEAR(function(path, "spin_consumer").on_path / kMillisecond, 5 * 5, 0.02 * 25);
  EXPECT_EQ(function(path, "spin_beside").on_path, 0);
  // Waiting is the host's: for producer and consumer, less what passed before it began to wait.
  EXPECT_NEAR(function(path, "cudaStreamSynchronize").waiting / kMillisecond, 5 * 13, 0.02 * 65);
}

TEST(Recorded, TheGpuWasIdleWhileTheHostSlept) {
  const IdleTime idle = idle_time(recorded("known_path"));
  ASSERT_EQ(idle.devices.size(), 1U);
  Time outside = 0;
  Time sum = 0;
  for (const IdleRow& row : idle.devices[0].rows) {
    sum += row.time;
    if (row.cause == IdleCause::kHostOther) outside += row.time;
  }
  EXPECT_NEAR(static_cast<double>(outside) / kMillisecond, 5 * 4, 0.03 * 20);  // a sleep is never shorter
  EXPECT_EQ(sum, idle.devices[0].idle);
}

TEST(Recorded, KernelsInsideACudaGraphBelongToTheStepsOfTheEngine) {
  const Trace trace = recorded("resnet50-hone-fp16-b1");
  const StepList steps = find_steps(trace);
  ASSERT_EQ(steps.steps.size(), 3U);
  const LayerTable table = analyze_layers(trace, steps);
  EXPECT_EQ(table.layers.size(), trace.model_steps.size());
  EXPECT_EQ(table.layers.front().name, "conv1 + bn1 + relu");
  EXPECT_GT(table.layers.front().flops_rate(), 1e12);
  // Everything but the copies of the input and the output is a layer's.
  EXPECT_LT(table.other_device.p50, 0.12 * table.device_busy.p50);
  for (const Layer& layer : table.layers) EXPECT_GE(layer.over_floor(), 0.9) << layer.name;
}

TEST(Recorded, PyTorchRunsTheSameKernelsEagerlyAndInAGraph) {
  const Trace eager = recorded("resnet50-torch-fp16-b1");
  const Trace graph = recorded("resnet50-torch-graph-fp16-b1");
  const auto kernels = [](const Trace& trace) {
    return std::count_if(
        trace.device_events.begin(), trace.device_events.end(),
        [](const trace::DeviceEvent& event) { return event.kind == trace::DeviceKind::kKernel; });
  };
  EXPECT_EQ(kernels(eager), 3 * 281);
  EXPECT_EQ(kernels(graph), 3 * 281);
  const auto busy = [](const Trace& trace) { return idle_time(trace).devices.at(0); };
  const auto share = [](const DeviceIdle& device) {
    return static_cast<double>(device.busy) / static_cast<double>(device.busy + device.idle);
  };
  EXPECT_LT(share(busy(eager)), 0.5);  // the host cannot launch as fast as the GPU works
  EXPECT_GT(share(busy(graph)), 0.6);
  EXPECT_EQ(critical_path(eager).doubts.size(), 0U);
}

TEST(Recorded, AnEngineIsAGraphOfStepsWithRivals) {
  const Trace trace = recorded("resnet50-hone-fp16-b1");
  const LayerTable table = analyze_layers(trace, find_steps(trace));
  // A residual block's last convolution reads the one before it and the block's input.
  const auto last = std::find_if(table.layers.begin(), table.layers.end(),
                                 [](const Layer& layer) { return layer.name.starts_with("layer1.1.conv3"); });
  ASSERT_NE(last, table.layers.end());
  EXPECT_EQ(last->predecessors.size(), 2U);
  EXPECT_GT(std::count_if(last->rivals.begin(), last->rivals.end(),
                          [](const LayerRival& rival) { return rival.refusal.empty(); }),
            10);
}

TEST(Recorded, WhatPyTorchDoesInManyLayersStandsBesideTheStepThatFusesThem) {
  const auto side = [](const char* name) {
    const Trace trace = recorded(name);
    return diff_side(trace, find_steps(trace));
  };
  const TraceDiff diff = compare_traces(side("resnet50-torch-fp16-b1"), side("resnet50-hone-fp16-b1"));
  const auto stem = std::find_if(diff.layers.begin(), diff.layers.end(), [](const MatchedLayers& layers) {
    return layers.b == std::vector<std::string>{"conv1 + bn1 + relu"};
  });
  ASSERT_NE(stem, diff.layers.end());
  EXPECT_THAT(stem->a, ::testing::ElementsAre("conv1", "bn1", "relu"));
  EXPECT_EQ(diff.layers.size(), 56U);  // as many as the engine has steps
  double sum = 0;
  for (const WaterfallBar& bar : diff.waterfall) sum += bar.change;
  EXPECT_NEAR(sum, diff.iteration_b.mean - diff.iteration_a.mean, 1);
}

TEST(Recorded, CountersSayThatTensorCoresWorkWhereNamesSaySo) {
  const Trace trace = recorded("resnet50-hone-fp16-b8-counters");
  const GpuUsage usage = analyze_gpu_usage(trace, trace::extent(trace));
  const DeviceUsage& gpu = usage.devices.at(0);
  EXPECT_GT(gpu.tensor_cores.value, 0.9);
  ASSERT_TRUE(gpu.measured_tensor_active.has_value());
  EXPECT_GT(gpu.measured_tensor_active->value, 0.02);
  EXPECT_LT(gpu.measured_tensor_active->value, gpu.measured_gr_active->value);
  // One in the time that a kernel ran, within what 47 samples can tell.
  EXPECT_NEAR(gpu.measured_gr_active->value, gpu.utilization.value, 0.05);
}

TEST(Recorded, MetricsOfKernelsAreThoseOfOneRunOfTheEngine) {
  const KernelMetricTable table = tabulate_kernel_metrics(recorded("resnet50-hone-fp16-b1-metrics"));
  EXPECT_EQ(table.launches, 57);
  for (const KernelMetricRow& row : table.rows) {
    if (row.metric == "achieved_occupancy") {
      EXPECT_GT(row.min, 0) << row.kernel;
      EXPECT_LE(row.max, 1) << row.kernel;
    }
    if (row.metric == "tensor_precision_fu_utilization" && row.kernel.find("pool") != std::string::npos) {
      EXPECT_EQ(row.max, 0) << row.kernel;
    }
  }
}

}  // namespace
}  // namespace hone::analysis
