// The critical path of hand-made programs, rule by rule: what is on it, from when to when, and what waited.
#include "analysis/questions/critical_path.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/program_trace.hpp"

namespace hone::analysis {
namespace {

using ::testing::ElementsAre;
using trace::CopyDirection;
using trace::HostKind;
using trace::MemoryKind;
using trace::StreamKind;

/// "0-10 <Other>" for each segment.
std::vector<std::string> segments(const CriticalPath& path) {
  std::vector<std::string> found;
  for (const PathSegment& segment : path.segments) {
    found.push_back(fmt::format("{}-{} {}", segment.span.start, segment.span.end,
                                path.functions[static_cast<size_t>(segment.function)].name));
  }
  return found;
}

const FunctionTime& row(const CriticalPath& path, const std::string& name) {
  static const FunctionTime none;
  for (const FunctionTime& function : path.functions) {
    if (function.name == name) return function;
  }
  ADD_FAILURE() << name << " has no row";
  return none;
}

TEST(CriticalPath, OfAnEmptyTraceIsEmpty) {
  const trace::Trace trace;
  const CriticalPath path = critical_path(trace);
  EXPECT_EQ(path.wall, 0);
  EXPECT_TRUE(path.functions.empty());
  EXPECT_TRUE(to_json(path)["segments"]["rows"].empty());
}

TEST(CriticalPath, EntersAKernelAtItsBeginAndLeavesTheTailToTheWait) {  // R1, R7
  ProgramTrace program;
  program.call("cudaMalloc", 0, 5);
  program.launch("k", 10, 15, 100, 8);
  program.wait_for_stream(8, 20, 110);
  program.call("cudaFree", 115, 120);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path),
              ElementsAre("0-5 cudaMalloc", "5-10 <Other>", "10-15 <Launch latency>", "15-100 k",
                          "100-110 cudaStreamSynchronize", "110-115 <Other>", "115-120 cudaFree"));
  EXPECT_EQ(path.wall, 120);
  EXPECT_EQ(row(path, "cudaStreamSynchronize").waiting, 80);
  EXPECT_EQ(row(path, "cudaStreamSynchronize").on_path, 10);
  EXPECT_EQ(row(path, "k").blame, 80);
  EXPECT_EQ(row(path, "k").waiting, 0);
  EXPECT_EQ(row(path, "cudaLaunchKernel").calls, 1);
  EXPECT_EQ(row(path, "cudaLaunchKernel").on_path, 0);
  EXPECT_DOUBLE_EQ(row(path, "k").share, 85.0 / 120);
}

TEST(CriticalPath, StaysOnTheHostWhenItNeverWaits) {
  ProgramTrace program;
  program.launch("k", 10, 15, 40, 8);
  program.wait_for_stream(8, 50, 52);
  program.call("cudaFree", 60, 70);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path), ElementsAre("10-12 cudaLaunchKernel", "12-50 <Other>",
                                          "50-52 cudaStreamSynchronize", "52-60 <Other>", "60-70 cudaFree"));
  EXPECT_EQ(path.waiting, 0);
}

TEST(CriticalPath, FollowsTheStreamUntilTheLaunchWasLater) {  // R2
  ProgramTrace program;
  program.launch("a", 0, 5, 20, 8);
  program.launch("b", 3, 21, 30, 8);   // waited in the queue
  program.launch("c", 50, 56, 70, 8);  // the queue was empty
  program.launch("d", 53, 70, 80, 8);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path), ElementsAre("0-2 cudaLaunchKernel", "2-3 <Other>", "3-5 cudaLaunchKernel",
                                          "5-50 <Other>", "50-56 <Launch latency>", "56-70 c", "70-80 d"));
}

TEST(CriticalPath, NamesQueueGaps) {
  ProgramTrace program;
  program.launch("a", 0, 5, 20, 8);
  program.launch("b", 3, 24, 30, 8);
  EXPECT_THAT(segments(critical_path(program.finish())),
              ElementsAre("0-5 <Launch latency>", "5-20 a", "20-24 <Queue gap>", "24-30 b"));
}

TEST(CriticalPath, CrossesTheDefaultStream) {  // R3
  ProgramTrace program;
  program.stream(8, StreamKind::kBlocking);
  program.launch("a", 0, 5, 20, 8);
  program.launch("null", 3, 20, 30);
  program.launch("b", 6, 30, 40, 8);
  EXPECT_THAT(segments(critical_path(program.finish())),
              ElementsAre("0-5 <Launch latency>", "5-20 a", "20-30 null", "30-40 b"));
}

TEST(CriticalPath, CrossesStreamsAtEvents) {  // R4, R5, R6
  ProgramTrace program;
  program.launch("a", 0, 5, 50, 8);
  const int64_t first = program.record_event(8, 3);
  program.launch("b", 5, 9, 20, 9);
  program.make_stream_wait(9, first, 8);
  program.launch("c", 10, 51, 60, 9);
  const int64_t second = program.record_event(9, 13);
  program.launch("d", 16, 60, 90, 9);
  program.wait_for_event(second, 20, 62);
  program.call("cudaFree", 95, 100);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path), ElementsAre("0-5 <Launch latency>", "5-50 a", "50-51 <Queue gap>", "51-60 c",
                                          "60-62 cudaEventSynchronize", "62-95 <Other>", "95-100 cudaFree"));
  EXPECT_EQ(row(path, "c").device_waiting, 30);  // it was launched, and b had ended, at 20
  EXPECT_EQ(row(path, "b").device_waiting, 0);
}

TEST(CriticalPath, LeavesPollsForTheWorkTheyWaitFor) {  // R8
  ProgramTrace program;
  program.launch("a", 0, 5, 50, 8);
  const auto poll = [&](Time start, int64_t result) {
    program.synchronize(trace::SyncKind::kStreamSynchronize, "cudaStreamQuery", start, start + 5, 8);
    program.trace().host_events.back().result = result;
  };
  poll(10, 600);
  poll(30, 600);
  poll(48, 0);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path), ElementsAre("0-5 <Launch latency>", "5-50 a", "50-53 cudaStreamQuery"));
  EXPECT_EQ(row(path, "cudaStreamQuery").waiting, 40);
  EXPECT_EQ(row(path, "cudaStreamQuery").calls, 3);
}

TEST(CriticalPath, ChargesStagingOfABlockingCopyToItsCall) {  // R9
  ProgramTrace program;
  const trace::Transfer transfer{64, CopyDirection::kHostToDevice, MemoryKind::kPageable,
                                 MemoryKind::kDevice};
  program.copy(program.call("cudaMemcpy", 0, 9000), "copy", 3000, 8000, transfer);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path), ElementsAre("0-3000 cudaMemcpy", "3000-8000 copy", "8000-9000 cudaMemcpy"));
  EXPECT_EQ(row(path, "cudaMemcpy").waiting, 8000);
}

TEST(CriticalPath, GoesThroughImplicitSynchronization) {  // R10
  ProgramTrace program;
  program.launch("a", 0, 5, 5000, 8);
  program.call("cudaFree", 10, 5100);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path), ElementsAre("0-5 <Launch latency>", "5-5000 a", "5000-5100 cudaFree"));
  EXPECT_EQ(row(path, "cudaFree").waiting, 4990);
}

TEST(CriticalPath, GoesThroughAFullLaunchQueue) {  // R11
  ProgramTrace program;
  program.launch("a", 0, 5, 100, 8);
  program.kernel(program.call("cudaLaunchKernel", 20, 110), "b", 112, 113, 8);
  program.host(HostKind::kOverhead, "COMMAND_BUFFER_FULL", 25, 108);
  program.call("cudaFree", 200, 210);
  EXPECT_THAT(segments(critical_path(program.finish())),
              ElementsAre("0-5 <Launch latency>", "5-100 a", "100-110 cudaLaunchKernel", "110-200 <Other>",
                          "200-210 cudaFree"));
}

TEST(CriticalPath, FollowsTheEdgesOfAGraph) {  // R12
  ProgramTrace program;
  const int64_t launch = program.call("cudaGraphLaunch", 0, 6);
  const auto node = [&](int64_t id, const std::string& name, Time start, Time end, int64_t stream) {
    program.kernel(launch, name, start, end, stream).graph_node = id;
  };
  node(1, "root", 10, 20, 8);
  node(2, "left", 21, 40, 8);
  node(3, "right", 22, 60, 20);
  node(4, "join", 61, 70, 8);
  program.trace().graph_edges = {{1, 2}, {1, 3}, {2, 4}, {3, 4}};
  program.wait_for_stream(8, 8, 75);
  EXPECT_THAT(segments(critical_path(program.finish())),
              ElementsAre("0-10 <Launch latency>", "10-20 root", "20-22 <Queue gap>", "22-60 right",
                          "60-61 <Queue gap>", "61-70 join", "70-75 cudaStreamSynchronize"));
}

TEST(CriticalPath, EntersAnOverlappedKernelAtTheBeginOfTheNext) {  // R13
  ProgramTrace program;
  program.launch("a", 0, 5, 20, 8);
  program.launch("b", 3, 16, 30, 8);
  EXPECT_THAT(segments(critical_path(program.finish())),
              ElementsAre("0-5 <Launch latency>", "5-16 a", "16-30 b"));
}

TEST(CriticalPath, GoesThroughHostFunctions) {  // R14
  ProgramTrace program;
  program.launch("a", 0, 5, 20, 8);
  program.host(HostKind::kHostFunction, "callback", 22, 50, 2, program.call("cudaLaunchHostFunc", 3, 4));
  program.launch("b", 6, 52, 60, 8);
  EXPECT_THAT(segments(critical_path(program.finish())),
              ElementsAre("0-5 <Launch latency>", "5-20 a", "20-22 <Queue gap>", "22-50 callback",
                          "50-52 <Queue gap>", "52-60 b"));
}

TEST(CriticalPath, SeesFalseDependencies) {
  ProgramTrace program;
  program.launch("a", 0, 5, 50, 8).channel = 3;
  program.launch("b", 3, 51, 60, 9).channel = 3;
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path), ElementsAre("0-5 <Launch latency>", "5-50 a", "50-51 <Queue gap>", "51-60 b"));
  EXPECT_EQ(row(path, "b").queue_delay, 47);
}

TEST(CriticalPath, CrossesThreadsThroughTheDevice) {
  ProgramTrace program;
  program.launch("a", 0, 5, 50, 8, 1);
  program.host(HostKind::kRange, "main", 0, 60, 1);
  program.wait_for_stream(8, 10, 55, 2);
  program.call("cudaFree", 70, 80, 2);
  EXPECT_THAT(segments(critical_path(program.finish())),
              ElementsAre("0-5 <Launch latency>", "5-50 a", "50-55 cudaStreamSynchronize", "55-70 <Other>",
                          "70-80 cudaFree"));
}

TEST(CriticalPath, SplitsOtherTimeByTheInnermostRange) {
  ProgramTrace program;
  program.host(HostKind::kStep, "ProfilerStep#3", 0, 100);
  program.host(HostKind::kOperator, "aten::conv2d", 10, 60);
  program.host(HostKind::kOperator, "aten::pad", 20, 30);
  program.call("cudaMalloc", 40, 50);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path),
              ElementsAre("0-10 <Other>", "10-20 <Other> in aten::conv2d", "20-30 <Other> in aten::pad",
                          "30-40 <Other> in aten::conv2d", "40-50 cudaMalloc",
                          "50-60 <Other> in aten::conv2d", "60-100 <Other>"));
}

TEST(CriticalPath, SaysTheProfilersOwnTimeApart) {
  ProgramTrace program;
  program.kernel(program.call("cudaLaunchKernel", 10, 40), "a", 45, 60, 8);
  program.host(HostKind::kOverhead, "Instrumentation", 15, 30);
  program.host(HostKind::kOverhead, "Lazy Function Loading", 32, 36);
  program.host(HostKind::kOverhead, "Buffer Flush", 62, 70);
  program.call("cudaFree", 61, 80);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path),
              ElementsAre("10-15 cudaLaunchKernel", "15-30 <Profiler overhead>", "30-40 cudaLaunchKernel",
                          "40-61 <Other>", "61-62 cudaFree", "62-70 <Profiler overhead>", "70-80 cudaFree"));
  EXPECT_EQ(path.profiler_overhead, 23);
}

TEST(CriticalPath, LeavesTheProfilersThreadsOut) {
  ProgramTrace program;
  program.host(HostKind::kOverhead, "Buffer Flush", 5, 10, 2);
  program.launch("a", 20, 25, 60, 8);
  program.wait_for_stream(8, 30, 62);
  program.host(HostKind::kOverhead, "Buffer Flush", 64, 90, 1);
  program.host(HostKind::kOverhead, "Buffer Flush", 70, 99, 2);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path),
              ElementsAre("20-25 <Launch latency>", "25-60 a", "60-62 cudaStreamSynchronize"));
  EXPECT_EQ(path.profiler_overhead, 0);
}

TEST(CriticalPath, SplitsLaunchLatencyByTheProfilersOwnTime) {
  ProgramTrace program;
  program.kernel(program.call("cudaLaunchKernel", 10, 40), "a", 45, 60, 8);
  program.host(HostKind::kOverhead, "Instrumentation", 15, 30);
  EXPECT_THAT(segments(critical_path(program.finish())),
              ElementsAre("10-15 <Launch latency>", "15-30 <Profiler overhead>", "30-45 <Launch latency>",
                          "45-60 a"));
}

TEST(CriticalPath, BlamesTheHostForIdleDevices) {
  ProgramTrace program;
  program.launch("a", 0, 5, 20, 8);
  program.wait_for_stream(8, 6, 22);
  program.call("cudaMalloc", 30, 60);
  program.launch("b", 65, 70, 90, 8);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_EQ(row(path, "cudaMalloc").blame, 30);
  EXPECT_EQ(row(path, "cudaStreamSynchronize").blame, 2);
  EXPECT_EQ(row(path, "<Other>").blame, 13);
  EXPECT_EQ(row(path, "a").blame, 14);
}

TEST(CriticalPath, SaysWhatItDoesNotKnow) {
  ProgramTrace program;
  program.call("cudaMalloc", 0, 5);
  program.kernel(7, "orphan", 50, 60, 8);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path), ElementsAre("0-50 <Unknown>", "50-60 orphan"));
  EXPECT_EQ(path.doubts.size(), 1U);
}

TEST(CriticalPath, EndsWithTheMovedClock) {
  ProgramTrace program;
  program.launch("a", 1000, 400, 700, 8);
  program.wait_for_stream(8, 1005, 1400);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path), ElementsAre("1000-1300 a", "1300-1400 cudaStreamSynchronize"));
  EXPECT_EQ(path.clock.devices[0].offset, 600);
}

TEST(CriticalPath, IsRightForAProgramWithAKnownOne) {
  // Two streams, 100 iterations: the long kernel of 3 ms in one stream and the short ones of 1 ms in the
  // other join by an event; the path is 100 x (3 ms + 0.5 ms), and launches of 5 us disappear behind them.
  ProgramTrace program;
  Time host = 0;
  Time device = 20'000;
  for (int i = 0; i < 100; ++i) {
    program.launch("short", host, device, device + 1'000'000, 8);
    program.launch("long", host + 5'000, device, device + 3'000'000, 9);
    const int64_t record = program.record_event(9, host + 10'000, i);
    program.make_stream_wait(8, record, host + 12'000);
    program.launch("join", host + 15'000, device + 3'001'000, device + 3'500'000, 8);
    program.wait_for_device(host + 20'000, device + 3'510'000);
    host = device + 3'520'000;
    device = host + 20'000;
  }
  const CriticalPath path = critical_path(program.finish());
  const double wall = static_cast<double>(path.wall);
  EXPECT_NEAR(row(path, "long").on_path / 300e6, 1, 0.02);
  EXPECT_NEAR(row(path, "join").on_path / 50e6, 1, 0.02);
  EXPECT_EQ(row(path, "short").on_path, 0);
  EXPECT_NEAR(static_cast<double>(row(path, "long").on_path + row(path, "join").on_path) / wall, 1, 0.02);
}

TEST(CriticalPath, NamesWhatHasNoName) {
  ProgramTrace program;
  program.call("", 0, 10);
  EXPECT_THAT(segments(critical_path(program.finish())), ElementsAre("0-10 <Unnamed>"));
}

TEST(CriticalPath, LeavesTheVersionsOfCallsOut) {
  ProgramTrace program;
  program.call("cudaFree_v3020", 0, 10);
  const CriticalPath path = critical_path(program.finish());
  EXPECT_THAT(segments(path), ElementsAre("0-10 cudaFree"));
  EXPECT_EQ(row(path, "cudaFree").calls, 1);
}

TEST(CriticalPath, WritesTheLongestOfManySegments) {
  ProgramTrace program;
  for (int i = 0; i < 10'100; ++i) program.call("cudaMalloc", 100 * i, 100 * i + (i == 77 ? 1 : 60));
  const CriticalPath path = critical_path(program.finish());
  EXPECT_EQ(path.segments.size(), 20'199U);
  const Json segments = to_json(path)["segments"];
  EXPECT_EQ(segments["rows"].size(), 20'000U);
  EXPECT_EQ(segments["left_out"], 199);
  Time last = 0;
  for (const Json& segment : segments["rows"]) {
    EXPECT_GE(segment[0].get<Time>(), last);
    last = segment[1];
    EXPECT_NE(segment[0], 7700);  // the short one
  }
}

TEST(CriticalPath, HasAJsonForm) {
  ProgramTrace program;
  program.launch("k", 10, 15, 100, 8);
  program.wait_for_stream(8, 20, 110);
  const Json json = to_json(critical_path(program.finish()));
  EXPECT_EQ(json["wall_ns"], 100);
  EXPECT_EQ(json["functions"][0]["name"], "k");
  EXPECT_EQ(json["functions"][0]["critical_path_ns"], 85);
  EXPECT_EQ(json["functions"][0]["kind"], "kernel");
  EXPECT_EQ(json["segments"]["rows"][1], Json({15, 100, 0, -1, 0}));
  EXPECT_EQ(json["segments"]["left_out"], 0);
  EXPECT_EQ(json["clock"][0]["offset_ns"], 0);
}

}  // namespace
}  // namespace hone::analysis
