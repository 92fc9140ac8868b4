// The tables of nvprof and nsys: names, counts, times, bytes and rates.
#include "analysis/questions/activity_summary.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "support/trace_builder.hpp"

namespace hone::analysis {
namespace {

using support::CopyDirection;
using support::HostKind;
using support::TraceBuilder;
using trace::Trace;

TEST(ActivitySummary, TablesHoldWhatHappened) {
  TraceBuilder b;
  b.kernel("void gemm<float>(float*)", 100, 400);
  b.launch() = {{4, 1, 1}, {128, 1, 1}};
  b.kernel("void gemm<float>(float*)", 500, 600);
  b.launch() = {{8, 1, 1}, {128, 1, 1}};
  b.kernel("void gemm<half>(half*)", 600, 700);
  b.copy(CopyDirection::kHostToDevice, 1000, 0, 50);
  b.copy(CopyDirection::kHostToDevice, 3000, 25, 75);  // on another stream, at the same time
  b.set(16, 80, 90);
  b.api("cudaLaunchKernel_v7000", 1, 11);
  b.api("cudaLaunchKernel", 20, 40);
  b.host(HostKind::kRange, "forward", 0, 700);
  const Trace& built = b.build();

  const ActivitySummary summary = summarize_activities(built, trace::extent(built));
  ASSERT_EQ(summary.gpu.size(), 4U);
  EXPECT_EQ(summary.gpu[0].name, "void gemm<float>(float*)");
  EXPECT_EQ(summary.gpu[0].total, 400);
  EXPECT_EQ(summary.gpu[0].times.n, 2);
  EXPECT_EQ(summary.gpu[0].times.min, 100);
  EXPECT_EQ(summary.gpu[0].times.max, 300);
  EXPECT_EQ(summary.gpu[0].times.mean, 200);
  EXPECT_DOUBLE_EQ(summary.gpu[0].share, 400.0 / 610);
  EXPECT_EQ(summary.gpu[1].name, "[CUDA memcpy HtoD]");  // before the kernel of the same total time
  EXPECT_EQ(summary.gpu[3].name, "[CUDA memset]");
  ASSERT_EQ(summary.calls.size(), 1U);
  EXPECT_EQ(summary.calls[0].times.n, 2);
  ASSERT_EQ(summary.ranges.size(), 1U);
  ASSERT_EQ(summary.volumes.size(), 2U);
  EXPECT_EQ(summary.volumes[0].bytes, 4000);
  EXPECT_EQ(summary.volumes[0].busy, 75);
  EXPECT_DOUBLE_EQ(summary.volumes[0].rate(), 4000.0 * 1e9 / 75);
  EXPECT_EQ(summary.volumes[1].kind, ActivityKind::kSet);

  const Json json = to_json(summary);
  EXPECT_EQ(json["gpu_activities"][0]["total_ns"], 400);
  EXPECT_EQ(json["transfers"][0]["direction"], "HtoD");
}

TEST(ActivitySummary, GroupsAsAsked) {
  TraceBuilder b;
  b.kernel("void gemm<float>(float*)", 100, 400);
  b.launch() = {{4, 1, 1}, {128, 1, 1}};
  b.kernel("void gemm<float>(float*)", 500, 600);
  b.launch() = {{8, 1, 1}, {128, 1, 1}};
  b.kernel("void gemm<half>(half*)", 600, 700);
  const Trace& built = b.build();

  const auto merged = summarize_activities(built, trace::extent(built), {.base_names = true}).gpu;
  ASSERT_EQ(merged.size(), 1U);
  EXPECT_EQ(merged[0].name, "gemm");
  EXPECT_EQ(merged[0].times.n, 3);
  const auto shaped = summarize_activities(built, trace::extent(built), {.by_launch_shape = true}).gpu;
  ASSERT_EQ(shaped.size(), 3U);
  EXPECT_EQ(shaped[0].launch->grid[0], 4);
  EXPECT_FALSE(shaped[2].launch.has_value() && shaped[1].launch.has_value());
}

TEST(ActivitySummary, CallsOfThreadsHaveATableOfTheirOwn) {
  TraceBuilder b;
  b.kernel("a", 0, 100);
  b.trace.host_events.push_back({10, 60, trace::HostKind::kThreadApi,
                                 b.trace.strings.intern("pthread_mutex_lock"), b.trace.thread_index(1, 1)});
  const Trace& built = b.build();
  const ActivitySummary summary = summarize_activities(built, trace::extent(built));
  EXPECT_TRUE(summary.calls.empty());
  ASSERT_EQ(summary.thread_calls.size(), 1U);
  EXPECT_EQ(summary.thread_calls[0].total, 50);
  EXPECT_EQ(to_json(summary)["thread_calls"][0]["kind"], "thread");
}

TEST(ActivitySummary, SaysWhatTensorCoresAreToldFrom) {
  TraceBuilder b;
  b.kernel("mine", 0, 300);
  b.launch().tensor_use = trace::TensorUse::kYes;
  b.kernel("nvjet_hsh_64x8", 300, 400);
  const Trace& built = b.build();
  const Json rows = to_json(summarize_activities(built, trace::extent(built)))["gpu_activities"];
  EXPECT_EQ(rows[0]["tensor_cores"], true);
  EXPECT_EQ(rows[0]["tensor_cores_by"], "instructions");
  EXPECT_EQ(rows[1]["tensor_cores"], true);
  EXPECT_EQ(rows[1]["tensor_cores_by"], "name");
}

TEST(ActivitySummary, CountsOnlyWhatStartsInTheWindow) {
  TraceBuilder b;
  b.kernel("a", 0, 100);
  b.kernel("a", 100, 300);
  b.kernel("a", 200, 300);
  const auto gpu = summarize_activities(b.build(), {100, 200}).gpu;
  ASSERT_EQ(gpu.size(), 1U);
  EXPECT_EQ(gpu[0].times.n, 1);
  EXPECT_EQ(gpu[0].total, 200);
}

TEST(ActivitySummary, SumsOfRandomTracesAreWhole) {
  base::Random random(3);
  for (int round = 0; round < 50; ++round) {
    TraceBuilder b;
    Time sum = 0;
    const size_t events = random.below(200);
    for (size_t i = 0; i < events; ++i) {
      const Time start = static_cast<Time>(random.below(10000)) + 1;
      const Time duration = static_cast<Time>(random.below(100));
      b.kernel("kernel" + std::to_string(random.below(7)), start, start + duration);
      sum += duration;
    }
    const auto gpu = summarize_activities(b.build(), {0, 20000}).gpu;
    Time total = 0;
    int64_t calls = 0;
    double share = 0;
    for (const Activity& activity : gpu) {
      total += activity.total;
      calls += activity.times.n;
      share += activity.share;
    }
    EXPECT_EQ(total, sum);
    EXPECT_EQ(calls, static_cast<int64_t>(events));
    if (sum > 0) {
      EXPECT_NEAR(share, 1, 1e-12);
    }
  }
}

}  // namespace
}  // namespace hone::analysis
