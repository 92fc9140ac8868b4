// What a worker tells of its runs arrives in the trace, and one that tells only of the runs can be recorded,
// too.
#include "trace/collect/model_recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/fixture.hpp"

namespace hone::trace {
namespace {

ModelRecording record(const std::string& mode, const backend::ObserveOptions& observe) {
  const bench::ModelInfo model = bench::describe_model(bench::make_model("tiny"), "tiny", {});
  bench::Peers peers = bench::make_peers();
  peers.add("peer=" + bench::fake_worker(mode));
  ModelRecordOptions options;
  options.model = "tiny";
  options.backend = "peer";
  options.batch = 2;
  options.observe = observe;
  options.schedule = {0, 1, 2, 2};
  return record_model(model, peers, options);
}

std::vector<HostEvent> events(const Trace& trace, HostKind kind) {
  std::vector<HostEvent> found;
  std::copy_if(trace.host_events.begin(), trace.host_events.end(), std::back_inserter(found),
               [kind](const HostEvent& event) { return event.kind == kind; });
  return found;
}

TEST(ModelRecorder, KeepsOperatorsAndMemory) {
  const ModelRecording recording = record("telling", {.shapes = true, .memory = true});
  const Trace& trace = recording.trace;
  const std::vector<HostEvent> steps = events(trace, HostKind::kStep);
  const std::vector<HostEvent> calls = events(trace, HostKind::kOperator);
  ASSERT_EQ(steps.size(), 4U) << "two cycles of two";
  ASSERT_EQ(calls.size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(trace.text(calls[i].name), "aten::relu");
    EXPECT_EQ(calls[i].thread, steps[i].thread);
    EXPECT_EQ(calls[i].start, steps[i].start + 100);
    EXPECT_EQ(calls[i].end, steps[i].end - 100);
    const OperatorDetail& detail = trace.operators.at(static_cast<size_t>(calls[i].detail));
    EXPECT_EQ(trace.text(detail.input_shapes), "[[2,6]]");
    EXPECT_EQ(trace.text(detail.input_types), "[\"float\"]");
    EXPECT_EQ(detail.sequence, kNone);
  }
  ASSERT_EQ(trace.allocations.size(), 8U);
  const Allocation& first = trace.allocations.front();
  EXPECT_EQ(first.device, -1);
  EXPECT_EQ(first.thread, steps[0].thread);
  EXPECT_EQ(first.bytes, 48);
  EXPECT_EQ(first.total_allocated, 48);
  EXPECT_EQ(first.total_reserved, kNone);
  EXPECT_EQ(trace.text(first.source), "peer");
  EXPECT_EQ(trace.allocations[1].bytes, -48);
  EXPECT_TRUE(trace.doubts.empty());
  EXPECT_NEAR(recording.recorded.p50, 1e-3, 1e-9) << "of the recorded runs";
  EXPECT_GE(recording.plain.p50, 1) << "of the others";
}

TEST(ModelRecorder, KeepsHowStepsHangTogether) {
  const Trace trace = record("telling", {}).trace;
  ASSERT_EQ(trace.model_steps.size(), 2U);
  EXPECT_EQ(trace.text(trace.model_steps[0].predecessors), "[]");
  EXPECT_EQ(trace.text(trace.model_steps[0].rivals), "");
  EXPECT_EQ(trace.text(trace.model_steps[1].predecessors), "[0]");
  EXPECT_EQ(trace.text(trace.model_steps[1].rivals),
            R"([{"tactic":"direct","layout":"","time_us":2.5,"chosen":true,"refusal":""},)"
            R"({"tactic":"winograd","layout":"plain","time_us":0.0,"chosen":false,"refusal":"no 3x3"}])");
}

TEST(ModelRecorder, KeepsOperatorsAlone) {
  const ModelRecording recording = record("telling", {});
  const std::vector<HostEvent> calls = events(recording.trace, HostKind::kOperator);
  ASSERT_EQ(calls.size(), 4U);
  EXPECT_EQ(calls[0].detail, -1);
  EXPECT_TRUE(recording.trace.operators.empty());
  EXPECT_TRUE(recording.trace.allocations.empty());
  EXPECT_TRUE(recording.trace.doubts.empty()) << "nobody asked for memory";
}

TEST(ModelRecorder, SaysThatAWorkerTellsNothingOfItsMemory) {
  const Trace trace = record("silent", {.shapes = true, .memory = true}).trace;
  EXPECT_EQ(events(trace, HostKind::kStep).size(), 4U);
  EXPECT_EQ(trace.host_events.size(), 4U);
  ASSERT_EQ(trace.doubts.size(), 1U);
  EXPECT_EQ(trace.doubts[0].severity, Severity::kNote);
  EXPECT_EQ(trace.doubts[0].text, "the backend peer does not tell of its allocations");
}

}  // namespace
}  // namespace hone::trace
