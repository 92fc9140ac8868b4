// Files of every year become the same rows, and what cannot be read is left out and counted.
#include "trace/format/kineto_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/temporary_folder.hpp"
#include "trace/format/kineto_samples.hpp"
#include "trace/gzip.hpp"

namespace hone::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class KinetoReader : public ::testing::Test {
 protected:
  Trace read(std::string_view content) { return read_kineto(folder_.write("a.json", content)); }
  /// A trace of these events alone.
  Trace read_events(const std::string& events) { return read("{\"traceEvents\": [" + events + "]}"); }
  const HostEvent& find(const Trace& trace, std::string_view name) {
    for (const HostEvent& event : trace.host_events) {
      if (trace.text(event.name) == name) return event;
    }
    ADD_FAILURE() << name << " is missing";
    return none_;
  }
  base::TemporaryFolder folder_;
  HostEvent none_;
};

TEST_F(KinetoReader, ReadsFilesOf2021) {
  const Trace trace = read(k2021);
  EXPECT_TRUE(trace.doubts.empty());
  ASSERT_EQ(trace.threads.size(), 1U);
  EXPECT_EQ(trace.threads[0].process, 25);
  EXPECT_EQ(trace.threads[0].id, 26);
  EXPECT_EQ(trace.text(trace.threads[0].name), "python");
  EXPECT_EQ(find(trace, "ProfilerStep#3").kind, HostKind::kStep);
  const HostEvent& op = find(trace, "aten::mm");
  EXPECT_EQ(op.kind, HostKind::kOperator);
  EXPECT_EQ(op.start, 1'623'142'623'460'111'000);
  EXPECT_EQ(op.end - op.start, 250'000);
  EXPECT_EQ(op.external_id, 2);
  const OperatorDetail& detail = trace.operators[static_cast<size_t>(op.detail)];
  EXPECT_EQ(trace.text(detail.input_shapes), "[[8, 8], [8, 8]]");
  EXPECT_EQ(trace.text(detail.call_stack), "a.py(3): f;b.py(4): g");
  const HostEvent& launch = find(trace, "cudaLaunchKernel");
  EXPECT_EQ(launch.kind, HostKind::kRuntimeApi);
  EXPECT_EQ(launch.correlation, 100);
  EXPECT_EQ(launch.external_id, 2);
  EXPECT_EQ(find(trace, "cudaMemcpyAsync").external_id, kNone);  // its own correlation is no operator's id
  ASSERT_EQ(trace.device_events.size(), 3U);
  const DeviceEvent& kernel = trace.device_events[0];
  EXPECT_EQ(kernel.kind, DeviceKind::kKernel);
  EXPECT_EQ(kernel.stream, 7);
  EXPECT_EQ(kernel.graph_node, kNone);
  const KernelLaunch& shape = trace.launches[static_cast<size_t>(kernel.detail)];
  EXPECT_THAT(shape.grid, ElementsAre(4, 2, 1));
  EXPECT_EQ(shape.dynamic_shared_bytes, 1024);
  EXPECT_EQ(shape.recorded_occupancy, 40);
  const Transfer& copy = trace.transfers[static_cast<size_t>(trace.device_events[1].detail)];
  EXPECT_EQ(copy.bytes, 4096);
  EXPECT_EQ(copy.direction, CopyDirection::kHostToDevice);
  EXPECT_EQ(copy.source, MemoryKind::kPageable);
  EXPECT_TRUE(copy.asynchronous);
  EXPECT_EQ(trace.device_events[2].kind, DeviceKind::kSet);
  EXPECT_EQ(trace.transfers[1].destination, MemoryKind::kDevice);
  EXPECT_FALSE(trace.transfers[1].asynchronous);
  ASSERT_EQ(trace.allocations.size(), 1U);
  EXPECT_EQ(trace.allocations[0].device, 0);
  EXPECT_EQ(trace.allocations[0].total_reserved, kNone);
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.text(trace.devices[0].name), "Tesla V100");
  EXPECT_EQ(trace.devices[0].memory_bytes, 34'084'028'416);
  EXPECT_EQ(trace.devices[0].multiprocessors, 80);
  ASSERT_EQ(trace.contexts.size(), 1U);
  EXPECT_EQ(trace.contexts[0].process, 25);
  ASSERT_EQ(trace.streams.size(), 1U);
}

TEST_F(KinetoReader, ReadsFilesOf2026) {
  const Trace trace = read(k2026);
  EXPECT_TRUE(trace.doubts.empty());
  EXPECT_EQ(trace.metadata.at("utc_epoch_ns"), "1711929600000000000");
  EXPECT_EQ(trace.metadata.at("cupti_version"), "26");
  EXPECT_EQ(trace.metadata.at("traceName"), "a.json");
  EXPECT_THAT(trace.metadata.at("distributedInfo"), HasSubstr("\"rank\": 3"));
  // The step is counted once, not once more for each stream.
  EXPECT_EQ(std::count_if(trace.host_events.begin(), trace.host_events.end(),
                          [](const HostEvent& event) { return event.kind == HostKind::kStep; }),
            1);
  const HostEvent& step = find(trace, "ProfilerStep#1");
  EXPECT_EQ(step.start, 1'000'001);
  EXPECT_EQ(step.end, 1'111'251);
  EXPECT_EQ(find(trace, "nccl:all_reduce").kind, HostKind::kRange);
  EXPECT_EQ(find(trace, "cuLaunchKernelEx").kind, HostKind::kDriverApi);
  EXPECT_EQ(find(trace, "cuLaunchKernelEx").external_id, kNone);
  EXPECT_EQ(find(trace, "Buffer Flush").kind, HostKind::kOverhead);
  EXPECT_EQ(find(trace, "nn.Module: Linear_0").kind, HostKind::kPython);
  ASSERT_EQ(trace.device_events.size(), 1U);
  const DeviceEvent& kernel = trace.device_events[0];
  EXPECT_EQ(kernel.start, 1'014'500);
  EXPECT_EQ(kernel.end, 1'028'750);
  EXPECT_EQ(kernel.graph, 3);
  EXPECT_EQ(kernel.graph_node, 77);
  EXPECT_EQ(kernel.channel, 9);
  EXPECT_EQ(kernel.channel_type, 1);
  EXPECT_EQ(trace.text(trace.launches[0].collective), "allreduce");
  EXPECT_EQ(trace.launches[0].recorded_occupancy, -1);
  EXPECT_EQ(trace.streams[0].priority, -5);
  ASSERT_EQ(trace.synchronizations.size(), 3U);
  EXPECT_EQ(trace.synchronizations[0].kind, SyncKind::kStreamSynchronize);
  EXPECT_EQ(trace.synchronizations[0].stream, 20);
  EXPECT_EQ(trace.synchronizations[0].correlation, 6);
  EXPECT_EQ(trace.synchronizations[1].kind, SyncKind::kStreamWaitEvent);
  EXPECT_EQ(trace.synchronizations[1].event_record, 8);
  EXPECT_EQ(trace.synchronizations[2].kind, SyncKind::kContextSynchronize);
  EXPECT_EQ(trace.synchronizations[2].stream, kNone);
  ASSERT_EQ(trace.event_records.size(), 1U);  // the wait and the row of the event speak of one record
  EXPECT_EQ(trace.event_records[0].id, 8);
  EXPECT_EQ(trace.event_records[0].event, 2);
  EXPECT_EQ(trace.event_records[0].stream, 20);
  EXPECT_EQ(trace.event_records[0].completed, 1'029'500);
  ASSERT_EQ(trace.allocations.size(), 1U);
  EXPECT_EQ(trace.allocations[0].device, -1);
  EXPECT_EQ(trace.allocations[0].bytes, -512);
  EXPECT_EQ(trace.allocations[0].total_allocated, 512);
  ASSERT_EQ(trace.counter_samples.size(), 1U);
  EXPECT_EQ(trace.counter_samples[0].device, 2);
  EXPECT_EQ(trace.counter_samples[0].value, 53.5);
  EXPECT_EQ(trace.text(trace.counter_samples[0].counter), "sm__cycles_active");
}

TEST_F(KinetoReader, ReadsPackedFiles) {
  const Trace trace = read_kineto(folder_.write("a.json.gz", gzip(k2021)));
  EXPECT_EQ(trace.host_events.size(), 4U);
  EXPECT_TRUE(trace.doubts.empty());
}

TEST_F(KinetoReader, KnowsTheRecordOfAWaitWithoutARowOfItsEvent) {
  const Trace trace =
      read_events(R"({"ph": "X", "cat": "cuda_sync", "name": "Event Sync", "pid": 0, "tid": -1,
    "ts": 5, "dur": 1, "args": {"stream": -1, "correlation": 9, "device": 1, "context": 1, "wait_on_stream": 20,
    "wait_on_cuda_event_record_corr_id": 8, "wait_on_cuda_event_id": 2}})");
  ASSERT_EQ(trace.event_records.size(), 1U);
  EXPECT_EQ(trace.event_records[0].id, 8);
  EXPECT_EQ(trace.event_records[0].correlation, 8);
  EXPECT_EQ(trace.event_records[0].stream, 20);
  EXPECT_EQ(trace.event_records[0].device, 1);
  EXPECT_EQ(trace.event_records[0].completed, kNone);
  EXPECT_EQ(trace.synchronizations[0].kind, SyncKind::kEventSynchronize);
}

TEST_F(KinetoReader, CountsWhatItLeavesOut) {
  const std::string good = R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":2})";
  const Trace trace =
      read_events(good + "," +
                  R"({"ph":"X","cat":"cpu_op","name":"no dur","pid":1,"tid":1,"ts":1},)"
                  R"({"ph":"X","name":"no cat","pid":1,"tid":1,"ts":1,"dur":2},)"
                  R"({"ph":"X","cat":"cpu_op","name":"nan","pid":1,"tid":1,"ts":NaN,"dur":2},)"
                  R"({"ph":"X","cat":"cpu_op","name":"huge","pid":1,"tid":1,"ts":1,"dur":1e300},)"
                  R"({"ph":"X","cat":"cpu_op","name":"negative","pid":1,"tid":1,"ts":9,"dur":-2},)"
                  R"({"ph":"X","cat":"mtia_ccp_events","name":"dma","pid":1,"tid":1,"ts":9,"dur":2},)"
                  R"({"ph":"X","cat":"cuda_sync","name":"New Sync","pid":1,"tid":1,"ts":9,"dur":2},)"
                  R"({"ph":"B","name":"begin","pid":1,"tid":1,"ts":9},)"
                  R"({"ph":"N","name":"object","pid":1,"tid":1,"ts":9},)"
                  R"({"ph":"X","cat":"cpu_op","name":"quo"te",)"
                  "\n"
                  R"("pid":1,"tid":1,"ts":1,"dur":2},)"
                  "\n17,\n" +
                  good);
  EXPECT_EQ(trace.host_events.size(), 3U);
  std::map<std::string, int64_t> counts;
  for (const Doubt& doubt : trace.doubts) counts[doubt.about + " " + doubt.text] = doubt.count;
  EXPECT_EQ(counts["events were no valid JSON and were left out"], 2);
  EXPECT_EQ(counts["events lacked a time or a value and were left out"], 4);
  EXPECT_EQ(counts["events had no category and are shown as ranges of the host"], 1);
  EXPECT_EQ(counts["host events had no valid time and were left out"], 1);
  EXPECT_EQ(counts["events of a kind that no analysis uses were left out: mtia_ccp_events"], 1);
  EXPECT_EQ(counts["events of a kind that no analysis uses were left out: New Sync"], 1);
  EXPECT_EQ(counts["events of a kind that no analysis uses were left out: events of other phases"], 1);
  EXPECT_EQ(counts.size(), 7U);
}

/// Chrome's format has ranges as two events, too; those of a thread lie in each other.
TEST_F(KinetoReader, JoinsBeginningsAndEnds) {
  const Trace trace = read_events(
      R"({"ph":"B","name":"outer","pid":1,"tid":1,"ts":1},{"ph":"B","name":"other","pid":1,"tid":2,"ts":2},)"
      R"({"ph":"B","name":"inner","pid":1,"tid":1,"ts":3},{"ph":"E","pid":1,"tid":1,"ts":4},)"
      R"({"ph":"E","pid":1,"tid":1,"ts":6},{"ph":"E","pid":1,"tid":1,"ts":7},{"ph":"E","pid":1,"tid":2,"ts":9})");
  std::map<std::string, Time> lengths;
  for (const HostEvent& event : trace.host_events)
    lengths[trace.strings[event.name]] = event.end - event.start;
  EXPECT_EQ(lengths, (std::map<std::string, Time>{{"outer", 5000}, {"inner", 1000}, {"other", 7000}}));
  ASSERT_EQ(trace.doubts.size(), 1U);
  EXPECT_EQ(trace.doubts[0].count, 1) << "an end without a beginning";
}

TEST_F(KinetoReader, GivesWhatCameBeforeTheEndOfABrokenFile) {
  const std::string whole = k2026;
  const Trace cut = read(whole.substr(0, whole.find("\"gpu_user_annotation\"")));
  EXPECT_EQ(cut.host_events.size(), 1U);
  ASSERT_EQ(cut.doubts.size(), 1U);
  EXPECT_EQ(cut.doubts[0].severity, Severity::kLoss);
  EXPECT_THAT(cut.doubts[0].text, HasSubstr("breaks off"));

  const std::string packed = gzip(whole);
  const Trace damaged =
      read_kineto(folder_.write("a.json.gz", std::string_view(packed).substr(0, packed.size() - 300)));
  EXPECT_FALSE(damaged.host_events.empty());
  ASSERT_EQ(damaged.doubts.size(), 1U);
  EXPECT_THAT(damaged.doubts[0].text, HasSubstr("ends in the middle"));
}

TEST_F(KinetoReader, NeverCrashesOnAFileCutAnywhere) {
  const std::string whole = k2026;
  for (size_t length = 0; length < whole.size(); length += 7) {
    try {
      const Trace trace = read(whole.substr(0, length));
      EXPECT_FALSE(trace.doubts.empty()) << length;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      EXPECT_LE(length, whole.find("traceEvents") + 14);
    }
  }
}

TEST_F(KinetoReader, RefusesWhatIsNoTrace) {
  for (const char* text :
       {"", "hello", "{\"nodes\": []}", "[[1, 2], [3, 4]]", "{\"traceEvents\": 3}", "\x89PNG", "[]", "[[[[[[",
        "[{\"ph\": ", "[{\"startEnqMs\": 1, \"endEnqMs\": 2}]"}) {
    try {
      read(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      EXPECT_THAT(error.what(), HasSubstr("a.json: no trace"));
    }
  }
  EXPECT_THROW(read_kineto(folder_.path() / "missing.json"), Error);
}

TEST_F(KinetoReader, TakesAnEmptyTraceAndABareListOfEvents) {
  EXPECT_TRUE(read_events("").host_events.empty());
  EXPECT_EQ(
      read(R"([{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":2}])").host_events.size(),
      1U);
}

TEST_F(KinetoReader, ReadsPyTorchWithoutKineto) {
  const Trace trace = read(
      R"([{"name":"aten::add","ph":"X","ts":10,"dur":5,"tid":1,"pid":"CPU functions","args":{}},)"
      R"({"name":"aten::add","ph":"s","ts":10,"tid":1,"pid":"CPU functions","id":0,"cat":"cpu_to_cuda"},)"
      R"({"name":"aten::add","ph":"X","ts":11,"dur":3,"tid":0,"pid":"CUDA functions","args":{}}])");
  ASSERT_EQ(trace.host_events.size(), 1U);
  EXPECT_EQ(trace.host_events[0].kind, HostKind::kOperator);
  ASSERT_EQ(trace.device_events.size(), 1U);
  EXPECT_EQ(trace.device_events[0].kind, DeviceKind::kKernel);
  EXPECT_TRUE(trace.doubts.empty());
}

TEST_F(KinetoReader, TellsDevicesOfJaxFromItsHost) {
  const Trace trace =
      read_events(R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},)"
                  R"({"ph":"M","pid":7,"name":"process_name","args":{"name":"/host:CPU"}},)"
                  R"({"ph":"X","name":"fusion","pid":1,"tid":1,"ts":1,"dur":2},)"
                  R"({"ph":"X","name":"PjitFunction","pid":7,"tid":1,"ts":1,"dur":2})");
  ASSERT_EQ(trace.device_events.size(), 1U);
  EXPECT_EQ(trace.text(trace.device_events[0].name), "fusion");
  ASSERT_EQ(trace.host_events.size(), 1U);
  EXPECT_EQ(trace.host_events[0].kind, HostKind::kRange);
}

TEST_F(KinetoReader, RefusesATraceOfWhichNothingCanBeRead) {
  try {
    read_events(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1},{"ph":"B","name":"b","ts":1})");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("a.json: none of its 2 events can be read"));
  }
}

TEST_F(KinetoReader, TellsThreadsWithoutNumbersApart) {
  const Trace trace =
      read_events(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":"main","ts":1,"dur":2},)"
                  R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":"worker","ts":1,"dur":2},)"
                  R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":"main","ts":5,"dur":2})");
  ASSERT_EQ(trace.threads.size(), 2U);
  EXPECT_EQ(trace.text(trace.threads[1].name), "worker");
  EXPECT_LT(trace.threads[0].id, -1);
}

TEST_F(KinetoReader, RefusesMetadataOfAnyLength) {
  const Trace trace =
      read("{\"note\": \"" + std::string(2 << 20, 'x') + "\", \"ok\": 1, \"traceEvents\": []}");
  EXPECT_EQ(trace.metadata.count("note"), 0U);
  EXPECT_EQ(trace.metadata.at("ok"), "1");
  ASSERT_EQ(trace.doubts.size(), 1U);
  EXPECT_EQ(trace.doubts[0].about, "metadata");
}

}  // namespace
}  // namespace hone::trace
