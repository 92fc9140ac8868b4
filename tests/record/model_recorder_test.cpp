// A worker's reports on its runs arrive in the trace, and a worker that reports only the runs can be
// recorded, too.
#include "record/model_recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bench/fixture.hpp"

namespace hone::record {
namespace {

ModelRecording record(const std::string& mode, const backend::ObserveOptions& observe,
                      const std::string& device = "cpu") {
  const bench::ModelInfo model = bench::describe_model(bench::make_model("tiny"), "tiny", {});
  bench::Peers peers = bench::make_peers();
  peers.add("peer=" + bench::fake_worker(mode));
  ModelRecordOptions options;
  options.setup.model = "tiny";
  options.setup.backend = "peer";
  options.setup.batch = 2;
  options.observe = observe;
  options.setup.device = device;
  options.schedule = {0, 1, 2, 2};
  return record_model(model, peers, options);
}

std::vector<trace::HostEvent> events(const trace::Trace& trace, trace::HostKind kind) {
  std::vector<trace::HostEvent> found;
  std::copy_if(trace.host_events.begin(), trace.host_events.end(), std::back_inserter(found),
               [kind](const trace::HostEvent& event) { return event.kind == kind; });
  return found;
}

TEST(ModelRecorder, KeepsOperatorsAndMemory) {
  const ModelRecording recording = record("telling", {.shapes = true, .memory = true});
  const trace::Trace& trace = recording.trace;
  const std::vector<trace::HostEvent> steps = events(trace, trace::HostKind::kStep);
  const std::vector<trace::HostEvent> calls = events(trace, trace::HostKind::kOperator);
  ASSERT_EQ(steps.size(), 4U) << "two cycles of two";
  ASSERT_EQ(calls.size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(trace.text(calls[i].name), "aten::relu");
    EXPECT_EQ(calls[i].thread, steps[i].thread);
    EXPECT_EQ(calls[i].start, steps[i].start + 100);
    EXPECT_EQ(calls[i].end, steps[i].end - 100);
    const trace::OperatorDetail& detail = trace.operators.at(static_cast<size_t>(calls[i].detail));
    EXPECT_EQ(trace.text(detail.input_shapes), "[[2,6]]");
    EXPECT_EQ(trace.text(detail.input_types), "[\"float\"]");
    EXPECT_EQ(detail.sequence, trace::kNone);
  }
  ASSERT_EQ(trace.allocations.size(), 8U);
  const trace::Allocation& first = trace.allocations.front();
  EXPECT_EQ(first.device, -1);
  EXPECT_EQ(first.thread, steps[0].thread);
  EXPECT_EQ(first.bytes, 48);
  EXPECT_EQ(first.total_allocated, 48);
  EXPECT_EQ(first.total_reserved, trace::kNone);
  EXPECT_EQ(trace.text(first.source), "peer");
  EXPECT_EQ(trace.allocations[1].bytes, -48);
  EXPECT_TRUE(trace.doubts.empty());
  EXPECT_NEAR(recording.recorded.p50, 1e-3, 1e-9) << "of the recorded runs";
  EXPECT_GE(recording.plain.p50, 1) << "of the others";
}

TEST(ModelRecorder, KeepsHowStepsHangTogether) {
  const trace::Trace trace = record("telling", {}).trace;
  ASSERT_EQ(trace.model_steps.size(), 2U);
  EXPECT_EQ(trace.text(trace.model_steps[0].predecessors), "[]");
  EXPECT_EQ(trace.text(trace.model_steps[0].rivals), "");
  EXPECT_EQ(trace.text(trace.model_steps[1].predecessors), "[0]");
  EXPECT_EQ(trace.text(trace.model_steps[1].rivals),
            R"([{"tactic":"direct","layout":"","time_us":2.5,"chosen":true,"refusal":""},)"
            R"({"tactic":"winograd","layout":"plain","time_us":0.0,"chosen":false,"refusal":"no 3x3"}])");
}

TEST(ModelRecorder, LetsABackendTimeTheGpuItself) {
  const ModelRecording recording = record("timing", {}, "cuda");
  const trace::Trace& trace = recording.trace;
  EXPECT_TRUE(recording.self_timed);
  const std::vector<trace::HostEvent> steps = events(trace, trace::HostKind::kStep);
  const std::vector<trace::HostEvent> calls = events(trace, trace::HostKind::kRuntimeApi);
  ASSERT_EQ(steps.size(), 4U) << "two cycles of two";
  ASSERT_EQ(calls.size(), 12U);
  ASSERT_EQ(trace.device_events.size(), 8U);
  ASSERT_EQ(trace.synchronizations.size(), 4U);
  std::set<int64_t> correlations;
  for (size_t i = 0; i < 4; ++i) {
    const trace::DeviceEvent& copy = trace.device_events[2 * i];
    const trace::DeviceEvent& kernel = trace.device_events[2 * i + 1];
    EXPECT_EQ(copy.device, 1);
    EXPECT_EQ(kernel.device, 1);
    EXPECT_EQ(copy.kind, trace::DeviceKind::kCopy);
    EXPECT_EQ(copy.start, steps[i].start + 60);
    EXPECT_EQ(copy.correlation, calls[3 * i].correlation);
    EXPECT_EQ(trace.transfers.at(static_cast<size_t>(copy.detail)).direction,
              trace::CopyDirection::kHostToDevice);
    EXPECT_EQ(trace.text(kernel.name), "void gemm<float>(int)");
    EXPECT_EQ(kernel.end, kernel.start + 300);
    EXPECT_EQ(kernel.correlation, calls[3 * i + 1].correlation);
    EXPECT_EQ(trace.launches.at(static_cast<size_t>(kernel.detail)).cluster[0], 2);
    EXPECT_EQ(trace.synchronizations[i].correlation, calls[3 * i + 2].correlation);
    EXPECT_EQ(trace.synchronizations[i].stream, kernel.stream);
    const auto node = std::find_if(trace.graph_nodes.begin(), trace.graph_nodes.end(),
                                   [&](const trace::GraphNode& row) { return row.id == kernel.graph_node; });
    ASSERT_NE(node, trace.graph_nodes.end());
    EXPECT_EQ(trace.text(node->range), "a");
    correlations.insert(kernel.correlation);
  }
  EXPECT_EQ(correlations.size(), 4U) << "of cycles, too";
  ASSERT_NE(trace.find_device(1), nullptr) << "as the worker numbers it";
  EXPECT_EQ(trace.find_device(1)->multiprocessors, 132);
  EXPECT_EQ(std::count_if(trace.doubts.begin(), trace.doubts.end(),
                          [](const trace::Doubt& doubt) { return doubt.text == "timed by itself"; }),
            1);
}

TEST(ModelRecorder, KeepsOperatorsAlone) {
  const ModelRecording recording = record("telling", {});
  const std::vector<trace::HostEvent> calls = events(recording.trace, trace::HostKind::kOperator);
  ASSERT_EQ(calls.size(), 4U);
  EXPECT_EQ(calls[0].detail, -1);
  EXPECT_TRUE(recording.trace.operators.empty());
  EXPECT_TRUE(recording.trace.allocations.empty());
  EXPECT_TRUE(recording.trace.doubts.empty()) << "nobody asked for memory";
}

TEST(ModelRecorder, SaysThatAWorkerTellsNothingOfItsMemory) {
  const trace::Trace trace = record("silent", {.shapes = true, .memory = true}).trace;
  EXPECT_EQ(events(trace, trace::HostKind::kStep).size(), 4U);
  EXPECT_EQ(trace.host_events.size(), 4U);
  ASSERT_EQ(trace.doubts.size(), 1U);
  EXPECT_EQ(trace.doubts[0].severity, trace::Severity::kNote);
  EXPECT_EQ(trace.doubts[0].text, "the backend peer does not report its allocations");
}

}  // namespace
}  // namespace hone::record
