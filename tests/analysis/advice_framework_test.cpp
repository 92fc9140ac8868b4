// The plugin's seven rules: each with a trace that fires it and one that does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice_support.hpp"

namespace hone::analysis {
namespace {

using support::HostKind;
using support::TraceBuilder;
using ::testing::HasSubstr;

constexpr const char* kLoading = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";

TEST(AdviceDataLoading, FromFivePercentOn) {
  const auto trace = [](Time loading) {
    TraceBuilder b;
    b.step("ProfilerStep#0", 0, 1000);
    b.step("ProfilerStep#1", 1000, 2000);
    b.host(HostKind::kRange, kLoading, 1000, 1000 + loading);
    return b;
  };
  TraceBuilder slow = trace(300);
  const auto advice = advice_of(slow, "data-loading");
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->gain, 300);
  EXPECT_THAT(all_text(*advice), HasSubstr("15.0 % of a step"));
  EXPECT_THAT(all_text(*advice), HasSubstr("most in ProfilerStep#1: 300 ns"));
  EXPECT_EQ(advice->evidence.at(1).place.start, 1000);
  TraceBuilder quick = trace(100);
  EXPECT_FALSE(advice_of(quick, "data-loading").has_value());
}

TEST(AdviceDataParallel, OnSeveralGpusOnly) {
  const auto trace = [](int gpus) {
    TraceBuilder b;
    b.op("DataParallel.forward", 0, 100);
    for (int gpu = 0; gpu < gpus; ++gpu) b.on_device(gpu).kernel("k", 10, 90);
    return b;
  };
  TraceBuilder two = trace(2);
  EXPECT_TRUE(advice_of(two, "data-parallel").has_value());
  TraceBuilder one = trace(1);
  EXPECT_FALSE(advice_of(one, "data-parallel").has_value());
}

TEST(AdviceNcclBackend, WhenTheHostCommunicates) {
  const auto trace = [](const char* collective, const char* kernel) {
    TraceBuilder b;
    b.host(HostKind::kRange, "DistributedDataParallel.forward", 0, 100);
    b.host(HostKind::kRange, collective, 100, 200);
    b.kernel(kernel, 10, 90);
    return b;
  };
  TraceBuilder gloo = trace("gloo:all_reduce", "gemm");
  const auto advice = advice_of(gloo, "nccl-backend");
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->gain, 100);
  TraceBuilder nccl = trace("nccl:all_reduce", "ncclDevKernel_AllReduce");
  EXPECT_FALSE(advice_of(nccl, "nccl-backend").has_value());
  TraceBuilder nothing = trace("forward", "gemm");
  EXPECT_TRUE(is_unjudged(nothing, "nccl-backend"));
}

TEST(AdviceCommunication, CountsOnlyWhatIsNotCovered) {
  const auto trace = [](Time kernel_end) {
    TraceBuilder b;
    b.kernel("gemm", 0, kernel_end);
    b.kernel("ncclDevKernel_AllReduce", 600, 1000);
    return b;
  };
  TraceBuilder exposed = trace(600);
  EXPECT_EQ(advice_of(exposed, "communication").value().gain, 400);
  TraceBuilder covered = trace(950);
  EXPECT_FALSE(advice_of(covered, "communication").has_value());
}

TEST(AdviceUtilization, NamesEveryIdleGpu) {
  TraceBuilder b;
  b.api("cudaMemcpy", 0, 1000);
  b.kernel("k", 100, 300);
  b.on_device(1).kernel("k", 0, 900);
  b.on_device(2).kernel("k", 0, 10);
  const auto advice = advice_of(b, "gpu-utilization");
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->gain, 100) << "GPU 1 works for 900";
  EXPECT_THAT(all_text(*advice), HasSubstr("GPU 0: kernels run 20.0 %"));
  EXPECT_THAT(all_text(*advice), Not(HasSubstr("GPU 1")));
  EXPECT_THAT(all_text(*advice), HasSubstr("GPU 2"));
  EXPECT_THAT(all_text(*advice), HasSubstr("most of the rest is runtime"));
  TraceBuilder busy;
  busy.kernel("k", 0, 600);
  busy.api("cudaMemcpy", 0, 1000);
  EXPECT_FALSE(advice_of(busy, "gpu-utilization").has_value());
}

TraceBuilder product(const char* kernel, int compute_major) {
  TraceBuilder b;
  b.on_device(3).properties("GPU", compute_major);  // not only the first device counts
  b.op("aten::mm", 0, 100);
  b.api("cudaLaunchKernel", 10, 20, 1);
  b.kernel(kernel, 20, 100, 1);
  return b;
}

TEST(AdviceTensorCores, WhereOperatorsCouldUseThem) {
  TraceBuilder unused = product("sgemm", 8);
  const auto advice = advice_of(unused, "tensor-cores");
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->gain, 40);
  EXPECT_THAT(all_text(*advice), HasSubstr("80 ns of device time"));
  TraceBuilder used = product("nvjet_tst_128", 9);
  EXPECT_FALSE(advice_of(used, "tensor-cores").has_value());
  TraceBuilder old = product("sgemm", 6);
  EXPECT_FALSE(advice_of(old, "tensor-cores").has_value());
  TraceBuilder without_operators;
  without_operators.properties("GPU", 9);
  without_operators.kernel("sgemm", 0, 100);
  EXPECT_TRUE(is_unjudged(without_operators, "tensor-cores"));
}

TEST(AdviceFullMemory, OfGpusNotOfTheHost) {
  const auto trace = [](int32_t device, int64_t bytes) {
    TraceBuilder b;
    b.properties("GPU").memory_bytes = 1000;
    b.op("aten::conv2d", 0, 100);
    b.on_device(device).allocate(50, 0xa, bytes);
    return b;
  };
  TraceBuilder full = trace(0, 950);
  const auto advice = advice_of(full, "full-memory");
  ASSERT_TRUE(advice.has_value());
  EXPECT_THAT(all_text(*advice), HasSubstr("950 B of it made by aten::conv2d"));
  TraceBuilder roomy = trace(0, 850);
  EXPECT_FALSE(advice_of(roomy, "full-memory").has_value());
  TraceBuilder host = trace(-1, 5000);
  EXPECT_FALSE(advice_of(host, "full-memory").has_value());
  EXPECT_TRUE(is_unjudged(host, "full-memory"));
}

TEST(AdviceWithoutGpu, JudgesOnlyByTheRulesOfTheHost) {
  TraceBuilder b;
  b.host(trace::HostKind::kStep, "ProfilerStep#0", 0, 1'000'000);
  b.op("aten::conv2d", 0, 900'000);
  const AdviceList list = analyze(b.build()).advice;
  EXPECT_THAT(list.advice, testing::IsEmpty());
  EXPECT_EQ(list.rules - static_cast<int64_t>(list.unjudged.size()), 3);
  for (const char* rule : {"data-loading", "profiler-overhead", "warm-up"})
    EXPECT_FALSE(is_unjudged(b, rule));
  for (const char* rule : {"long-gaps", "half-precision", "synchronization", "gpu-utilization"})
    EXPECT_TRUE(is_unjudged(b, rule));
}

}  // namespace
}  // namespace hone::analysis
