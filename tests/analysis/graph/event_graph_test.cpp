// Each rule by which operations depend on each other, on a trace made for it, and host waits with causes.
#include "analysis/graph/event_graph.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/program_trace.hpp"

namespace hone::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using trace::CopyDirection;
using trace::HostKind;
using trace::MemoryKind;
using trace::StreamKind;
using trace::SyncKind;

std::string name_of(const EventGraph& graph, int32_t operation) {
  return graph.trace->text(graph.operations[static_cast<size_t>(operation)].name);
}

int32_t find(const EventGraph& graph, const std::string& name) {
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    if (name_of(graph, static_cast<int32_t>(i)) == name) return static_cast<int32_t>(i);
  }
  ADD_FAILURE() << name << " is not in the graph";
  return 0;
}

std::string kind_name(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::kStreamOrder: return "stream";
    case DependencyKind::kDefaultStream: return "default";
    case DependencyKind::kEvent: return "event";
    case DependencyKind::kGraph: return "graph";
    case DependencyKind::kHostFunction: return "function";
    case DependencyKind::kQueue: return "queue";
  }
  return "?";
}

/// "a stream", "b event inferred", "c stream overlapping".
std::vector<std::string> before(const EventGraph& graph, const std::string& name) {
  std::vector<std::string> found;
  for (const Dependency& dependency : graph.dependencies_of(find(graph, name))) {
    found.push_back(fmt::format("{} {}{}{}", name_of(graph, dependency.operation), kind_name(dependency.kind),
                                dependency.inferred ? " inferred" : "",
                                dependency.overlapping ? " overlapping" : ""));
  }
  return found;
}

/// "cudaStreamSynchronize 10-20 k" for each wait: begin, end and causes.
std::vector<std::string> waits(const EventGraph& graph) {
  std::vector<std::string> found;
  for (const HostWait& wait : graph.waits) {
    std::string text =
        fmt::format("{} {}-{}", graph.trace->text(graph.call_name(wait.call)), wait.begin, wait.end);
    for (const int32_t cause : graph.causes_of(wait)) text += " " + name_of(graph, cause);
    found.push_back(text + (wait.inferred ? " inferred" : ""));
  }
  return found;
}

int64_t doubted(const EventGraph& graph, const std::string& part) {
  int64_t count = 0;
  for (const trace::Doubt& doubt : graph.doubts) {
    if (doubt.text.find(part) != std::string::npos) count += doubt.count;
  }
  return count;
}

TEST(EventGraph, LinksOperationsToTheCallThatLaunchedThem) {  // R1
  ProgramTrace program;
  const int64_t launch = program.call("cudaLaunchKernel", 0, 10);
  program.host(HostKind::kDriverApi, "cuLaunchKernel", 2, 8, 1, launch);
  program.kernel(launch, "k", 20, 30);
  program.kernel(99, "orphan", 40, 50, 8);
  const EventGraph graph = build_event_graph(program.finish());
  ASSERT_EQ(graph.calls.size(), 1U);
  EXPECT_EQ(graph.operations[0].call, 0);
  EXPECT_EQ(graph.nodes[static_cast<size_t>(graph.operations[0].launch)].time, 0);
  EXPECT_EQ(graph.operations[1].call, -1);
  EXPECT_EQ(doubted(graph, "no launch"), 1);
}

TEST(EventGraph, FollowsTheCallAroundADriverCallOfItsOwnCorrelation) {
  ProgramTrace program;
  program.call("cudaLaunchKernel", 0, 10);
  program.host(HostKind::kDriverApi, "cuLaunchKernel", 2, 8, 1, 55);
  program.kernel(55, "k", 20, 30);
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_EQ(graph.calls[static_cast<size_t>(graph.operations[0].call)].enter, 0);
}

TEST(EventGraph, FindsCallsWhoseCorrelationsLieFarApart) {
  ProgramTrace program;
  program.host(HostKind::kRuntimeApi, "cudaLaunchKernel", 0, 2, 1, int64_t{1} << 60);
  program.host(HostKind::kRuntimeApi, "cudaLaunchKernel", 3, 5, 1, 1);
  program.kernel(int64_t{1} << 60, "far", 10, 20);
  program.kernel(1, "near", 20, 30);
  program.kernel(500, "orphan", 30, 40);
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_EQ(graph.operations[0].call, 0);
  EXPECT_EQ(graph.operations[1].call, 1);
  EXPECT_EQ(graph.operations[2].call, -1);
}

TEST(EventGraph, CutsCallsThatOverlapWithoutNesting) {
  ProgramTrace program;
  program.call("a", 0, 10);
  program.call("b", 5, 20);
  const EventGraph graph = build_event_graph(program.finish());
  ASSERT_EQ(graph.calls.size(), 2U);
  EXPECT_EQ(graph.calls[0].leave, 10);
  EXPECT_EQ(graph.calls[1].enter, 10);
  EXPECT_EQ(graph.calls[1].leave, 20);
}

TEST(EventGraph, CountsWaitsWhoseCallIsMissing) {
  ProgramTrace program;
  program.launch("a", 0, 10, 20, 8);
  program.wait_for_stream(8, 3, 25);
  program.trace().synchronizations.back().correlation = 9999;
  program.trace().host_events.back().correlation = trace::kNone;
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_EQ(doubted(graph, "not in the trace"), 1);
  // The call's name and the times still tell what it waited for.
  EXPECT_THAT(waits(graph), ElementsAre("cudaStreamSynchronize 3-20 a inferred"));
}

TEST(EventGraph, OrdersStreams) {  // R2
  ProgramTrace program;
  program.launch("a", 0, 10, 20, 8);
  program.launch("b", 3, 20, 30, 9);
  program.launch("c", 6, 30, 40, 8);
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_THAT(before(graph, "b"), IsEmpty());
  EXPECT_THAT(before(graph, "c"), ElementsAre("a stream"));
}

TEST(EventGraph, OrdersAStreamByItsOperationsWhenThreadsShareIt) {
  ProgramTrace program;
  program.launch("second", 0, 30, 40, 8, 1);  // its call began first and took effect last
  program.launch("first", 1, 10, 20, 8, 2);
  program.wait_for_stream(8, 2, 21, 2);
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_THAT(before(graph, "second"), ElementsAre("first stream"));
}

TEST(EventGraph, MakesTheDefaultStreamAndBlockingStreamsWaitForEachOther) {  // R3
  ProgramTrace program;
  program.stream(8, StreamKind::kBlocking);
  program.stream(9, StreamKind::kBlocking);
  program.stream(10, StreamKind::kNonBlocking);
  program.stream(11, StreamKind::kUnknown);
  program.launch("a8", 0, 10, 20, 8);
  program.launch("a9", 3, 11, 25, 9);
  program.launch("a10", 6, 12, 22, 10);
  program.launch("a11", 9, 12, 23, 11);
  program.launch("null", 12, 30, 40);
  program.launch("b8", 15, 40, 50, 8);
  program.launch("c8", 18, 50, 60, 8);
  program.launch("b10", 21, 41, 51, 10);
  program.launch("null2", 24, 60, 70);
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_THAT(before(graph, "null"), UnorderedElementsAre("a8 default", "a9 default"));
  EXPECT_THAT(before(graph, "b8"), UnorderedElementsAre("null default", "a8 stream"));
  EXPECT_THAT(before(graph, "c8"), ElementsAre("b8 stream"));
  EXPECT_THAT(before(graph, "b10"), ElementsAre("a10 stream"));
  EXPECT_THAT(before(graph, "null2"), UnorderedElementsAre("c8 default", "null stream"));
}

TEST(EventGraph, MakesAStreamWaitForWhatWasThereWhenTheEventWasRecorded) {  // R4, R5
  ProgramTrace program;
  program.launch("a", 0, 10, 20, 8);
  const int64_t record = program.record_event(8, 3);
  program.launch("later", 5, 20, 90, 8);
  program.launch("early", 8, 10, 30, 9);
  program.make_stream_wait(9, record, 11);
  program.make_stream_wait(8, record, 12);  // of its own stream: nothing to wait for
  program.launch("b", 14, 31, 40, 9);
  program.launch("c", 17, 41, 50, 9);
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_THAT(before(graph, "b"), UnorderedElementsAre("a event", "early stream"));
  EXPECT_THAT(before(graph, "c"), ElementsAre("b stream"));
  EXPECT_THAT(before(graph, "later"), ElementsAre("a stream"));
}

TEST(EventGraph, TakesTheLastRecordOfAnEventThatIsUsedAgain) {
  ProgramTrace program;
  program.launch("a", 0, 10, 20, 8);
  program.record_event(8, 3);
  program.launch("b", 5, 20, 30, 8);
  program.record_event(8, 8);
  program.make_stream_wait(9, trace::kNone, 10);
  program.trace().synchronizations.back().event = 5;
  program.launch("c", 12, 31, 40, 9);
  EXPECT_THAT(before(build_event_graph(program.finish()), "c"), ElementsAre("b event"));
}

TEST(EventGraph, SpreadsAWaitOfTheDefaultStreamToTheStreamsItBlocks) {
  ProgramTrace program;
  program.stream(8, StreamKind::kBlocking);
  program.stream(9, StreamKind::kNonBlocking);
  program.stream(10, StreamKind::kBlocking);
  program.launch("a", 0, 10, 20, 9);
  const int64_t record = program.record_event(9, 3);
  program.make_stream_wait(ProgramTrace::kNullStream, record, 5);
  program.launch("b", 8, 21, 30, 8);
  program.launch("c", 11, 30, 40, 8);
  program.launch("d", 14, 22, 23, 10);
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_THAT(before(graph, "b"), ElementsAre("a event"));
  EXPECT_THAT(before(graph, "c"), ElementsAre("b stream"));
  EXPECT_THAT(before(graph, "d"), ElementsAre("a event"));
}

TEST(EventGraph, LeavesOutWaitsForUnknownRecords) {
  ProgramTrace program;
  program.launch("a", 0, 10, 20, 8);
  program.make_stream_wait(9, 4321, 5);
  program.launch("b", 8, 21, 30, 9);
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_THAT(before(graph, "b"), IsEmpty());
  EXPECT_EQ(doubted(graph, "not in the trace"), 1);
}

TEST(EventGraph, MakesCallsWaitForEventsStreamsAndDevices) {  // R6, R7
  ProgramTrace program;
  program.launch("a", 0, 10, 20, 8);
  const int64_t record = program.record_event(8, 3);
  program.launch("b", 5, 20, 50, 8);
  program.launch("c", 8, 12, 70, 9);
  program.wait_for_event(record, 11, 24);
  program.wait_for_stream(8, 30, 52);
  program.wait_for_device(53, 75);
  program.wait_for_device(80, 82);  // nothing was added since
  program.launch("d", 84, 90, 95, 8);
  program.wait_for_device(97, 99);  // ended before
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_THAT(waits(graph), ElementsAre("cudaEventSynchronize 11-20 a", "cudaStreamSynchronize 30-50 b",
                                        "cudaDeviceSynchronize 53-70 b c", "cudaDeviceSynchronize 97-97 d"));
}

TEST(EventGraph, WaitsForTheDefaultStreamAndWhatItWaitsFor) {
  ProgramTrace program;
  program.stream(8, StreamKind::kBlocking);
  program.launch("null", 0, 5, 10);
  program.launch("a", 3, 10, 40, 8);
  program.wait_for_stream(ProgramTrace::kNullStream, 6, 42);
  EXPECT_THAT(waits(build_event_graph(program.finish())), ElementsAre("cudaStreamSynchronize 6-40 null a"));
}

TEST(EventGraph, TakesPollsForOneWait) {  // R8
  ProgramTrace program;
  program.launch("a", 0, 10, 50, 8);
  const int64_t record = program.record_event(8, 3);
  const auto poll = [&](Time start, int64_t result) {
    program.synchronize(SyncKind::kEventSynchronize, "cudaEventQuery", start, start + 5, trace::kNone,
                        record);
    program.trace().host_events.back().result = result;
  };
  poll(10, 600);
  poll(20, 600);
  poll(48, 0);
  poll(60, 0);  // finished work: no wait
  EXPECT_THAT(waits(build_event_graph(program.finish())),
              ElementsAre("cudaEventQuery 10-50 a", "cudaEventQuery 60-60 a"));
}

TEST(EventGraph, FindsBlockingCopiesByTheirTimes) {  // R9
  ProgramTrace program;
  const trace::Transfer pageable{64, CopyDirection::kDeviceToHost, MemoryKind::kDevice, MemoryKind::kPageable,
                                 true};
  const trace::Transfer pinned{64, CopyDirection::kDeviceToHost, MemoryKind::kDevice, MemoryKind::kPinned,
                               true};
  const trace::Transfer within{64, CopyDirection::kDeviceToDevice, MemoryKind::kDevice, MemoryKind::kDevice,
                               false};
  const auto copy = [&](const std::string& name, Time start, const trace::Transfer& transfer) {
    const int64_t call = program.call("cudaMemcpy", start, start + 5000);
    program.copy(call, name, start + 1000, start + 4000, transfer);
  };
  copy("pageable", 0, pageable);
  copy("pinned", 10000, pinned);
  copy("within", 20000, within);
  program.copy(program.call("cudaMemcpyAsync", 30000, 31000), "on", 30500, 39000, pageable);
  const int64_t set = program.call("cudaMemset", 50000, 55000);
  program.device(trace::DeviceKind::kSet, set, "set", 50500, 54000);
  EXPECT_THAT(waits(build_event_graph(program.finish())),
              ElementsAre("cudaMemcpy 0-4000 pageable", "cudaMemset 50000-54000 set"));
}

TEST(EventGraph, InfersImplicitSynchronizationOnlyWhereItWasSeen) {  // R10
  ProgramTrace program;
  program.launch("a", 0, 10, 50'000, 8);
  program.call("cudaMalloc_v3020", 3, 48'900);  // the device went on
  program.call("cudaFree", 49'000, 50'300);     // returned right after it
  program.call("cudaFree", 60'000, 60'300);     // nothing to wait for
  program.launch("b", 70'000, 70'010, 80'000, 8);
  program.call("cudaFree", 71'000, 900'000);  // went on for long afterwards
  EXPECT_THAT(waits(build_event_graph(program.finish())), ElementsAre("cudaFree 49000-50000 a inferred"));
}

TEST(EventGraph, InfersWhatACallWithoutRecordWaitedFor) {
  ProgramTrace program;
  program.launch("a", 0, 10, 50'000, 8);
  program.launch("b", 3, 11, 990'000, 9);
  program.call("cudaStreamSynchronize_ptsz", 10, 50'400);
  EXPECT_THAT(waits(build_event_graph(program.finish())),
              ElementsAre("cudaStreamSynchronize_ptsz 10-50000 a inferred"));
}

TEST(EventGraph, SeesLaunchesThatFindTheQueueFull) {  // R11
  ProgramTrace program;
  program.launch("a", 0, 10, 100, 8);
  program.launch("b", 3, 100, 5'000'000, 8);
  program.kernel(program.call("cudaLaunchKernel", 20, 130), "c", 5'000'000, 5'000'300, 8);
  program.host(HostKind::kOverhead, "Command Buffer Full", 30, 120);
  EXPECT_THAT(waits(build_event_graph(program.finish())), ElementsAre("cudaLaunchKernel 30-100 a inferred"));
}

TEST(EventGraph, FollowsTheEdgesOfGraphs) {  // R12
  ProgramTrace program;
  program.launch("before", 0, 5, 10, 8);
  const int64_t launch = program.call("cudaGraphLaunch", 4, 6);
  const auto node = [&](int64_t id, const std::string& name, Time start, Time end, int64_t stream) {
    trace::DeviceEvent& event = program.kernel(launch, name, start, end, stream);
    event.graph = 3;
    event.graph_node = id;
  };
  node(1, "root", 12, 20, 8);
  node(2, "left", 21, 40, 8);
  node(3, "right", 21, 60, 20);
  node(4, "free", 11, 13, 20);
  node(6, "join", 61, 70, 8);
  // Node 5 is empty and leaves no record: it joins left and right.
  program.trace().graph_edges = {{1, 2}, {1, 3}, {2, 5}, {3, 5}, {5, 6}};
  program.launch("after", 8, 70, 80, 8);
  program.wait_for_stream(8, 11, 83);
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_THAT(before(graph, "root"), UnorderedElementsAre("before stream"));
  EXPECT_THAT(before(graph, "left"), UnorderedElementsAre("root graph"));
  EXPECT_THAT(before(graph, "right"), UnorderedElementsAre("root graph", "free queue"));
  EXPECT_THAT(before(graph, "join"), UnorderedElementsAre("right graph", "left queue"));
  // Only the last of what an empty node joins counts, so that left, too, is a leaf.
  EXPECT_THAT(before(graph, "after"), UnorderedElementsAre("join stream", "free stream", "left stream"));
  EXPECT_THAT(waits(graph), ElementsAre("cudaStreamSynchronize 11-80 after"));
}

TEST(EventGraph, OrdersGraphsWithoutEdgesByStreamAndTime) {
  ProgramTrace program;
  const int64_t launch = program.call("cudaGraphLaunch", 0, 2);
  const auto node = [&](const std::string& name, Time start, Time end, int64_t stream) {
    program.kernel(launch, name, start, end, stream).graph = 3;
  };
  node("root", 10, 20, 8);
  node("left", 21, 40, 8);
  node("right", 22, 60'000, 20);
  node("join", 60'001, 70'000, 8);  // long after left, right after right
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_THAT(before(graph, "left"), ElementsAre("root stream"));
  EXPECT_THAT(before(graph, "right"), ElementsAre("root graph inferred"));
  EXPECT_THAT(before(graph, "join"), UnorderedElementsAre("left stream", "right graph inferred"));
}

TEST(EventGraph, MakesOverlapsPointEdges) {  // R13
  ProgramTrace program;
  program.launch("a", 0, 10, 20, 8);
  program.launch("b", 3, 18, 30, 8);
  program.launch("c", 6, 31, 40, 8);
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_THAT(before(graph, "b"), ElementsAre("a stream overlapping"));
  EXPECT_THAT(before(graph, "c"), UnorderedElementsAre("a stream", "b stream"));
}

TEST(EventGraph, PutsHostFunctionsIntoTheirStream) {  // R14
  ProgramTrace program;
  program.launch("a", 0, 10, 20, 8);
  const int64_t call = program.call("cudaLaunchHostFunc", 3, 4);
  program.host(HostKind::kHostFunction, "callback", 22, 50, 2, call);
  program.launch("b", 6, 52, 60, 8);
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_THAT(before(graph, "callback"), ElementsAre("a function inferred"));
  EXPECT_THAT(before(graph, "b"), ElementsAre("callback function inferred"));
}

TEST(EventGraph, MarksTheOrderOfAChannelAsFalse) {
  ProgramTrace program;
  program.launch("a", 0, 10, 20, 8).channel = 4;
  program.launch("b", 3, 21, 30, 9).channel = 4;
  program.launch("c", 6, 31, 40, 10).channel = 5;
  program.launch("d", 35, 38, 40, 11).channel = 4;  // launched after b had ended
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_THAT(before(graph, "b"), ElementsAre("a queue"));
  EXPECT_THAT(before(graph, "c"), IsEmpty());
  EXPECT_THAT(before(graph, "d"), IsEmpty());
}

TEST(EventGraph, InfersThatAnOperationWaitedForAFullDevice) {
  ProgramTrace program;
  program.launch("full", 0, 10'000, 900'000, 8);
  program.launch("late", 20'000, 910'000, 920'000, 9);        // begins when the device is free
  program.launch("next", 920'000, 960'000, 990'000, 10);      // was launched 40 us before
  program.launch("slow", 990'000, 1'200'000, 1'300'000, 11);  // nothing ran meanwhile
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_THAT(before(graph, "late"), ElementsAre("full queue inferred"));
  EXPECT_THAT(before(graph, "next"), IsEmpty());
  EXPECT_THAT(before(graph, "slow"), IsEmpty());
}

TEST(EventGraph, LeavesOutWhatTimesContradict) {
  ProgramTrace program;
  program.launch("a", 0, 10, 90'000, 8);
  const int64_t record = program.record_event(8, 3);
  program.make_stream_wait(9, record, 5);
  program.launch("b", 8, 20, 30, 9);   // began long before a ended
  program.wait_for_stream(8, 11, 60);  // returned long before it
  const EventGraph graph = build_event_graph(program.finish());
  EXPECT_THAT(before(graph, "b"), IsEmpty());
}

}  // namespace
}  // namespace hone::analysis
