// Traces that were recorded on an H200, with answers that were checked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "analysis/critical_path.hpp"
#include "analysis/idle_time.hpp"
#include "analysis/layers.hpp"
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
// both, a sleep of 4 ms and a copy. In the first round the kernel beside the producer was loaded when it was
// launched and began only after the producer, so there it is on the path instead.
TEST(Recorded, TheKnownPathIsFoundWithinTwoPerCent) {
  const CriticalPath path = critical_path(recorded("known_path"));
  EXPECT_NEAR(function(path, "spin_producer").on_path / kMillisecond, 5 * 8, 0.02 * 40);
  EXPECT_NEAR(function(path, "spin_consumer").on_path / kMillisecond, 5 * 5, 0.02 * 25);
  EXPECT_NEAR(function(path, "spin_beside").on_path / kMillisecond, 3, 0.02 * 3);
  // Waiting is the host's: for producer and consumer, less what passed before it began to wait.
  EXPECT_NEAR(function(path, "cudaStreamSynchronize").waiting / kMillisecond, 4 * 13 + 16, 0.02 * 68);
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
  EXPECT_EQ(eager.device_events.size(), graph.device_events.size());
  const auto busy = [](const Trace& trace) { return idle_time(trace).devices.at(0); };
  const auto share = [](const DeviceIdle& device) {
    return static_cast<double>(device.busy) / static_cast<double>(device.busy + device.idle);
  };
  EXPECT_LT(share(busy(eager)), 0.5);  // the host cannot launch as fast as the GPU works
  EXPECT_GT(share(busy(graph)), 0.6);
  EXPECT_EQ(critical_path(eager).doubts.size(), 0U);
}

}  // namespace
}  // namespace hone::analysis
