// A written file keeps the rules that TensorBoard's profiler plugin, Holistic Trace Analysis and Perfetto
// need, one test a rule, and comes back as the trace that it was.
#include "trace/format/kineto_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/temporary_folder.hpp"
#include "trace/format/kineto_reader.hpp"
#include "trace/format/kineto_samples.hpp"
#include "trace/rows.hpp"

namespace hone::trace {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kProcess = 42;

/// Two steps on one thread: an operator inside an operator with a launch, a collective, a copy without
/// operator, waits with their event, memory, modules, counters; and what is awkward: a stream 0, a call of
/// the driver inside one of the runtime, an operator that ends after its parent.
class KinetoWriter : public ::testing::Test {
 protected:
  void SetUp() override {
    trace_.metadata = {{"program", "toy"}, {"utc_epoch_ns", "1711929600000000000"}, {"with_stack", "1"}};
    DeviceProperties device;
    device.name = trace_.strings.intern("NVIDIA H200");
    device.compute_major = 9;
    device.multiprocessors = 132;
    device.threads_per_multiprocessor = 2048;
    device.registers_per_multiprocessor = 65536;
    device.shared_bytes_per_multiprocessor = 233472;
    trace_.devices.push_back(device);
    trace_.contexts.push_back({1, 0, kProcess, 7});
    thread_ = trace_.thread_index(kProcess, kProcess);
    trace_.threads[0].name = trace_.strings.intern("main \"quoted\"");
    for (int64_t i = 0; i < 3; ++i)
      host(HostKind::kStep, "iteration", 1'000'000 * i + 1, 1'000'000 * i + 900'000);
    host(HostKind::kOperator, "aten::linear", 10'000, 200'000);
    host(HostKind::kOperator, "aten::addmm", 20'500, 210'000);  // 10 µs too long
    host(HostKind::kRuntimeApi, "cudaLaunchKernel", 30'000, 40'000, 100);
    host(HostKind::kDriverApi, "cuLaunchKernel", 31'000, 39'000, 100);
    host(HostKind::kOperator, "c10d::allreduce_", 300'000, 400'000);
    host(HostKind::kRange, "nccl:all_reduce", 310'000, 390'000);
    trace_.operators.push_back({trace_.strings.intern("[[8, 8]]"), trace_.strings.intern("[\"float\"]")});
    trace_.host_events.back().detail = 0;
    host(HostKind::kDriverApi, "cuLaunchKernelEx", 320'000, 330'000, 101);
    host(HostKind::kRuntimeApi, "cudaMemcpyAsync", 420'000, 430'000, 102);
    host(HostKind::kRuntimeApi, "cudaEventRecord", 431'000, 432'000, 103);
    host(HostKind::kRuntimeApi, "cudaStreamWaitEvent", 433'000, 434'000, 104);
    host(HostKind::kRuntimeApi, "cudaStreamSynchronize", 440'000, 500'000, 105);
    host(HostKind::kPython, "nn.Module: Net_0", 5'000, 800'000);
    host(HostKind::kPython, "nn.Module: Linear_0", 6'000, 250'000);
    host(HostKind::kPython, "a.py(3): f", 7'000, 240'000);
    kernel("gemm", 60'250, 80'500, 7, 100);
    trace_.launches.back().registers_per_thread = 32;
    kernel("ncclDevKernel_AllReduce", 340'000, 360'000, 0, 101);
    trace_.launches.back().collective = trace_.strings.intern("allreduce");
    trace_.device_events.push_back({445'000, 445'000, DeviceKind::kCopy,
                                    trace_.strings.intern("Memcpy HtoD (Pinned -> Device)"), 0, 1, 7, 102});
    trace_.device_events.back().detail = 0;
    trace_.transfers.push_back(
        {4096, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, true});
    trace_.synchronizations.push_back({433'000, 433'500, SyncKind::kStreamWaitEvent, 0, 1, 9, 3, 77, 104});
    trace_.synchronizations.push_back(
        {441'000, 499'000, SyncKind::kStreamSynchronize, 0, 1, 7, kNone, kNone, 105});
    trace_.event_records.push_back({77, 3, 0, 1, 7, 103, 434'500});
    trace_.allocations.push_back({22'000, 0, thread_, 0x7f00, 512, 512, 2'097'152});
    trace_.allocations.push_back({21'000, -1, thread_, 0x8f00, -64});
    const StringId counter = trace_.strings.intern("SMs active");
    trace_.counter_samples = {{50'000, counter, 0, 53.25}, {51'000, counter, 0, std::nan("")}};
    trace_.doubt(Severity::kLoss, "kernels", "were dropped", 3);
    normalize(trace_);
  }

  void host(HostKind kind, const char* name, Time start, Time end, int64_t correlation = kNone) {
    trace_.host_events.push_back({start, end, kind, trace_.strings.intern(name), thread_, correlation});
  }
  void kernel(const char* name, Time start, Time end, int64_t stream, int64_t correlation) {
    trace_.launches.push_back({{528, 1, 1}, {256, 1, 1}});
    trace_.device_events.push_back(
        {start, end, DeviceKind::kKernel, trace_.strings.intern(name), 0, 1, stream, correlation});
    trace_.device_events.back().detail = static_cast<int32_t>(trace_.launches.size() - 1);
  }
  std::string write(const KinetoOptions& options = {"host_1", 5}) {
    const auto paths = write_kineto(trace_, folder_.path() / "run", options);
    EXPECT_EQ(paths.size(), 1U);
    return base::read_file(paths.at(0));
  }
  /// The events of a written file that have this value.
  std::vector<Json> events(const char* key, const std::string& value,
                           const KinetoOptions& options = {"host_1", 5}) {
    std::vector<Json> found;
    const Json document = Json::parse(write(options));
    for (const Json& event : document.at("traceEvents")) {
      if (event.contains(key) && event[key] == value) found.push_back(event);
    }
    return found;
  }
  Json only(const std::string& name) {
    const std::vector<Json> found = events("name", name);
    EXPECT_EQ(found.size(), 1U) << name;
    return found.at(0);
  }

  base::TemporaryFolder folder_;
  Trace trace_;
  int32_t thread_ = 0;
};

TEST_F(KinetoWriter, NamesFilesAsTensorBoardExpects) {
  const auto folder = folder_.path() / "log" / "run";
  EXPECT_EQ(write_kineto(trace_, folder, {"host_1", 5}).at(0), folder / "host_1.5.pt.trace.json");
  const std::regex pattern(R"(^(.*?)(\.\d+)?\.pt\.trace\.json(?:\.gz)?$)");
  const std::string name = write_kineto(trace_, folder, {"", 0, true}).at(0).filename();
  std::smatch match;
  ASSERT_TRUE(std::regex_match(name, match, pattern));
  EXPECT_THAT(match[1], HasSubstr("_42"));
  EXPECT_GT(std::stoll(match[2].str().substr(1)), 1'700'000'000'000'000'000);
  EXPECT_EQ(read_kineto(folder / name).host_events.size(), trace_.host_events.size());
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    EXPECT_NE(entry.path().extension(), ".tmp");
}

TEST_F(KinetoWriter, SaysTheRankNearTheTop) {
  // Readers search line by line for this, space included.
  const std::regex pattern(R"("rank":\s+(\d+))");
  std::smatch match;
  std::string text = write();
  ASSERT_TRUE(std::regex_search(text, match, pattern));
  EXPECT_EQ(match[1], "0");
  EXPECT_LT(match.position(), 200);
  trace_.metadata["distributedInfo"] = "{\"backend\":\"nccl\",\"rank\":3,\"world_size\":8}";
  text = write();
  ASSERT_TRUE(std::regex_search(text, match, pattern));
  EXPECT_EQ(match[1], "3");
  EXPECT_EQ(Json::parse(text)["distributedInfo"]["world_size"], 8);
  EXPECT_EQ(Json::parse(text)["deviceProperties"][0]["numSms"], 132);
  EXPECT_THAT(text, HasSubstr("\"traceEvents\": ["));
}

TEST_F(KinetoWriter, GivesEveryIntervalAllItsFields) {
  const Json document = Json::parse(write());
  for (const Json& event : document["traceEvents"]) {
    EXPECT_TRUE(event.contains("name")) << event;
    if (event["ph"] != "X") continue;
    for (const char* key : {"cat", "pid", "tid", "ts", "dur"})
      EXPECT_TRUE(event.contains(key)) << key << event;
    EXPECT_TRUE(event["pid"].is_number_integer()) << event;
    EXPECT_TRUE(event["tid"].is_number_integer()) << event;
    EXPECT_GE(event["dur"].get<double>(), 0) << event;
  }
}

TEST_F(KinetoWriter, NestsOperatorsAndGivesThemIdsOfTheirOwn) {
  std::set<int64_t> ids;
  for (const char* category : {"cpu_op", "user_annotation"}) {
    for (const Json& event : events("cat", category))
      EXPECT_TRUE(ids.insert(event["args"]["External id"].get<int64_t>()).second);
  }
  EXPECT_EQ(ids.size(), 7U);
  EXPECT_GE(*ids.begin(), 1);
  const Json outer = only("aten::linear");
  const Json inner = only("aten::addmm");
  EXPECT_EQ(inner["ts"].get<double>() + inner["dur"].get<double>(),
            outer["ts"].get<double>() + outer["dur"].get<double>());
  EXPECT_THAT(write(), HasSubstr("were cut there"));
}

TEST_F(KinetoWriter, JoinsCallsToTheInnermostOperator) {
  const Json launch = only("cudaLaunchKernel");
  EXPECT_EQ(launch["cat"], "cuda_runtime");
  EXPECT_EQ(launch["args"]["correlation"], 100);
  EXPECT_EQ(launch["args"]["External id"], only("aten::addmm")["args"]["External id"]);
  EXPECT_EQ(only("gemm")["args"]["External id"], launch["args"]["External id"]);
  EXPECT_EQ(only("cudaMemcpyAsync")["args"]["External id"], 0);
  // A launch through the driver alone is one of the runtime for readers; beside the runtime's it is none.
  EXPECT_EQ(only("cuLaunchKernelEx")["cat"], "cuda_runtime");
  EXPECT_EQ(only("cuLaunchKernel")["cat"], "cuda_driver");
  EXPECT_FALSE(only("cuLaunchKernel")["args"].contains("correlation"));
  std::map<int64_t, int> correlations;
  for (const Json& event : events("cat", "cuda_runtime"))
    ++correlations[event["args"]["correlation"].get<int64_t>()];
  for (const auto& [correlation, count] : correlations) EXPECT_EQ(count, 1) << correlation;
}

TEST_F(KinetoWriter, WritesNamesOfCallsWithoutWhatCuptiAdds) {
  // As our collector records them.
  for (const char* name : {"cudaLaunchKernel_v7000", "cudaLaunchKernelExC_v11060", "cudaGraphLaunch_v10000",
                           "cudaMemcpyAsync_ptsz_v7000", "cudaMemsetAsync_ptsz"})
    host(HostKind::kRuntimeApi, name, 520'000, 520'001, 900);
  host(HostKind::kDriverApi, "cuMemcpyHtoDAsync_v2_ptsz", 530'000, 530'001);
  normalize(trace_);
  std::set<std::string> names;
  for (const char* category : {"cuda_runtime", "cuda_driver"}) {
    for (const Json& event : events("cat", category)) names.insert(event["name"]);
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaGraphLaunch",
                                              "cudaMemcpyAsync", "cudaMemsetAsync", "cuMemcpyHtoDAsync_v2"}));
  for (const std::string& name : names) {
    EXPECT_EQ(name.find("_ptsz"), std::string::npos) << name;
    EXPECT_FALSE(std::regex_search(name, std::regex("_v[0-9]{4}"))) << name;
  }
}

TEST_F(KinetoWriter, DescribesKernelsAndCopies) {
  const Json kernel = only("gemm");
  EXPECT_EQ(kernel["cat"], "kernel");
  EXPECT_EQ(kernel["pid"], 0);
  EXPECT_EQ(kernel["tid"], 7);
  EXPECT_EQ(kernel["ts"], 60.25);
  EXPECT_EQ(kernel["dur"], 20.25);
  const Json& args = kernel["args"];
  EXPECT_EQ(args["device"], 0);
  EXPECT_EQ(args["stream"], 7);
  EXPECT_EQ(args["blocks per SM"], 4);
  EXPECT_EQ(args["warps per SM"], 32);
  EXPECT_EQ(args["grid"], Json({528, 1, 1}));
  EXPECT_EQ(args["block"], Json({256, 1, 1}));
  EXPECT_EQ(args["registers per thread"], 32);
  EXPECT_EQ(args["shared memory"], 0);
  EXPECT_EQ(args["est. achieved occupancy %"], 50);  // 4 blocks of 8 warps of 64
  EXPECT_GT(only("ncclDevKernel_AllReduce")["args"]["stream"].get<int64_t>(), 0);  // readers lose stream 0
  const Json copy = only("Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(copy["cat"], "gpu_memcpy");
  EXPECT_EQ(copy["args"]["bytes"], 4096);
  EXPECT_EQ(copy["args"]["memory bandwidth (GB/s)"], 0);  // in no time at all, and yet not "inf"
}

TEST_F(KinetoWriter, WritesStepsThatFollowOneAnother) {
  std::vector<std::string> names;
  double last = -1;
  for (const Json& event : events("cat", "user_annotation")) {
    if (!event["name"].get<std::string>().starts_with("ProfilerStep#")) continue;
    names.push_back(event["name"]);
    EXPECT_EQ(event["tid"], kProcess);
    EXPECT_GE(event["ts"].get<double>(), last);
    last = event["ts"].get<double>() + event["dur"].get<double>();
  }
  EXPECT_THAT(names, ::testing::ElementsAre("ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"));
  EXPECT_TRUE(events("cat", "gpu_user_annotation").empty());
}

TEST_F(KinetoWriter, KeepsNamesOfStepsAndSetsOverlappingOnesApart) {
  int number = 7;
  for (HostEvent& event : trace_.host_events) {
    if (event.kind == HostKind::kStep)
      event.name = trace_.strings.intern("ProfilerStep#" + std::to_string(number++));
  }
  host(HostKind::kStep, "ProfilerStep#99", 500'000, 1'500'000);  // on the same thread
  trace_.host_events.push_back(
      {0, 10, HostKind::kStep, trace_.strings.intern("ProfilerStep#7"), trace_.thread_index(kProcess, 43)});
  normalize(trace_);
  for (const char* name : {"ProfilerStep#7", "ProfilerStep#8", "ProfilerStep#9"})
    EXPECT_EQ(only(name)["tid"], kProcess);
  EXPECT_TRUE(events("name", "ProfilerStep#99").empty());
  EXPECT_EQ(only("iteration ProfilerStep#7")["tid"], 43);
}

TEST_F(KinetoWriter, JoinsCollectivesToTheirKernels) {
  const Json range = only("nccl:all_reduce");
  EXPECT_EQ(range["args"]["Input Dims"], Json::parse("[[8, 8]]"));
  EXPECT_EQ(range["args"]["Input type"], Json::parse("[\"float\"]"));
  const Json kernel = only("ncclDevKernel_AllReduce");
  EXPECT_EQ(kernel["args"]["External id"], range["args"]["External id"]);
  EXPECT_EQ(only("cuLaunchKernelEx")["args"]["External id"], range["args"]["External id"]);
  EXPECT_EQ(kernel["args"]["Collective name"], "allreduce");
}

TEST_F(KinetoWriter, SaysWhatWaitsWaitFor) {
  const Json wait = only("Stream Wait Event");
  EXPECT_EQ(wait["cat"], "cuda_sync");
  EXPECT_EQ(wait["args"]["correlation"], only("cudaStreamWaitEvent")["args"]["correlation"]);
  EXPECT_EQ(wait["args"]["stream"], 9);
  EXPECT_EQ(wait["args"]["wait_on_stream"], 7);
  EXPECT_EQ(wait["args"]["wait_on_cuda_event_record_corr_id"],
            only("cudaEventRecord")["args"]["correlation"]);
  const Json sync = only("Stream Sync");
  EXPECT_EQ(sync["args"]["stream"], 7);
  EXPECT_EQ(sync["tid"], 1'000'007);  // on a row of its own, or viewers drop it
}

TEST_F(KinetoWriter, WritesMemoryInOrderAndModulesWithTheirIds) {
  const std::vector<Json> memory = events("name", "[memory]");
  ASSERT_EQ(memory.size(), 2U);
  EXPECT_LT(memory[0]["ts"], memory[1]["ts"]);
  for (const Json& event : memory) {
    EXPECT_EQ(event["tid"], kProcess);
    EXPECT_EQ(event["ph"], "i");
    for (const char* key : {"Device Type", "Device Id", "Addr", "Bytes", "Total Allocated", "Total Reserved"})
      EXPECT_TRUE(event["args"].contains(key)) << key;
  }
  EXPECT_EQ(memory[0]["args"]["Device Type"], 0);
  EXPECT_EQ(memory[1]["args"]["Total Reserved"], 2'097'152);
  const Json net = only("nn.Module: Net_0")["args"];
  const Json linear = only("nn.Module: Linear_0")["args"];
  EXPECT_TRUE(net["Python parent id"].is_null());
  EXPECT_EQ(linear["Python parent id"], net["Python id"]);
  EXPECT_NE(linear["Python module id"], net["Python module id"]);
  EXPECT_EQ(only("a.py(3): f")["args"]["Python parent id"], linear["Python id"]);
  EXPECT_FALSE(only("a.py(3): f")["args"].contains("Python module id"));
}

TEST_F(KinetoWriter, EndsWithoutMarksOfARecording) {
  EXPECT_TRUE(events("name", "Record Window End").empty());
  EXPECT_TRUE(events("ph", "B").empty());
  const std::vector<Json> counters = events("ph", "C");
  ASSERT_EQ(counters.size(), 1U);  // JSON has no NaN
  EXPECT_EQ(counters[0]["args"][""], 53.25);
}

TEST_F(KinetoWriter, RoundsToMicrosecondsOnRequestAndKeepsTheNesting) {
  const KinetoOptions options{"host_1", 5, false, true};
  for (const Json& event : events("ph", "X", options)) {
    EXPECT_TRUE(event["ts"].is_number_integer()) << event;
    EXPECT_TRUE(event["dur"].is_number_integer()) << event;
  }
  const Json kernel = events("name", "gemm", options).at(0);
  EXPECT_EQ(kernel["ts"], 60);
  EXPECT_EQ(kernel["dur"], 20);
}

TEST_F(KinetoWriter, ComesBackAsItWas) {
  for (const char* sample : {k2021, k2026}) {
    const Trace trace = read_kineto(folder_.write("sample.json", sample));
    Trace back = read_kineto(write_kineto(trace, folder_.path(), {"w", 1}).at(0));
    if (std::string_view(sample) == k2021) {  // absolute times become relative to a base
      const Time base = std::stoll(back.metadata.at("utc_epoch_ns"));
      for (HostEvent& event : back.host_events) event.start += base, event.end += base;
      for (DeviceEvent& event : back.device_events) event.start += base, event.end += base;
      for (Allocation& row : back.allocations)
        row.time += base, row.total_allocated = row.total_reserved = kNone;
    } else {  // a call inside of a collective is the collective's
      for (HostEvent& event : back.host_events) {
        if (back.text(event.name) == "cuLaunchKernelEx") event.external_id = kNone;
      }
    }
    EXPECT_EQ(rows(back), rows(trace));
  }
}

TEST_F(KinetoWriter, KeepsDoubtsAndMetadata) {
  const Trace back = read_kineto(write_kineto(trace_, folder_.path(), {"w", 1}).at(0));
  EXPECT_EQ(back.metadata.at("with_stack"), "1");
  EXPECT_EQ(back.metadata.at("program"), "toy");
  EXPECT_EQ(back.metadata.at("utc_epoch_ns"), "1711929600000000000");
  ASSERT_EQ(back.doubts.size(), 2U);
  EXPECT_EQ(back.doubts[0].severity, Severity::kLoss);
  EXPECT_EQ(back.doubts[0].text, "were dropped");
  EXPECT_EQ(back.doubts[0].count, 3);
  EXPECT_EQ(back.text(back.threads[0].name), "main \"quoted\"");
}

TEST_F(KinetoWriter, CountsWhatTheFormatHasNoPlaceFor) {
  trace_.model_steps.resize(3);
  trace_.kernel_metrics.resize(2);
  trace_.graph_edges.resize(1);
  const Trace back = read_kineto(write_kineto(trace_, folder_.path(), {"w", 1}).at(0));
  for (const auto& [table, count] :
       std::map<std::string, int64_t>{{"model_steps", 3}, {"kernel_metrics", 2}, {"graph_edges", 1}}) {
    const auto doubt = std::find_if(back.doubts.begin(), back.doubts.end(),
                                    [&](const Doubt& each) { return each.about == table; });
    ASSERT_NE(doubt, back.doubts.end()) << table;
    EXPECT_EQ(doubt->count, count) << table;
    EXPECT_EQ(doubt->severity, Severity::kLoss) << table;
  }
}

TEST_F(KinetoWriter, KeepsUnitsOfCounters) {
  trace_.counter_units[trace_.counter_samples[0].counter] = "%";
  const Trace back = read_kineto(write_kineto(trace_, folder_.path(), {"w", 1}).at(0));
  ASSERT_EQ(back.counter_samples.size(), 1U);
  EXPECT_EQ(back.counter_units.at(back.counter_samples[0].counter), "%");
}

TEST_F(KinetoWriter, KeepsKindsApartThatShareACategory) {
  // Readers take steps of an engine for operators, and other kinds for ranges.
  const std::map<std::string, HostKind> kinds = {{"conv1", HostKind::kEngineStep},
                                                 {"callback", HostKind::kHostFunction},
                                                 {"pthread_join", HostKind::kThreadApi}};
  Time at = 600'000;
  for (const auto& [name, kind] : kinds) host(kind, name.c_str(), at, at + 1'000), at += 10'000;
  normalize(trace_);
  EXPECT_EQ(only("conv1")["cat"], "cpu_op");
  const Trace back = read_kineto(write_kineto(trace_, folder_.path(), {"w", 1}).at(0));
  size_t found = 0;
  for (const HostEvent& event : back.host_events) {
    const auto kind = kinds.find(back.text(event.name));
    if (kind == kinds.end()) continue;
    EXPECT_EQ(event.kind, kind->second) << kind->first;
    ++found;
  }
  EXPECT_EQ(found, kinds.size());
}

TEST_F(KinetoWriter, WritesAFileForEachProcess) {
  const int32_t other = trace_.thread_index(50, 50);
  trace_.host_events.push_back({5'000, 6'000, HostKind::kOperator, trace_.strings.intern("other"), other});
  normalize(trace_);
  const auto paths = write_kineto(trace_, folder_.path(), {"host", 5});
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(paths[0].filename(), "host_42.5.pt.trace.json");
  EXPECT_EQ(paths[1].filename(), "host_50.5.pt.trace.json");
  EXPECT_EQ(read_kineto(paths[0]).device_events.size(), 3U);
  const Trace second = read_kineto(paths[1]);
  EXPECT_EQ(second.host_events.size(), 1U);
  EXPECT_TRUE(second.device_events.empty());
  EXPECT_THAT(base::read_file(paths[1]), HasSubstr("\"rank\": 1"));
}

TEST_F(KinetoWriter, WritesAnEmptyTraceAndRefusesWhereItCannotWrite) {
  EXPECT_TRUE(read_kineto(write_kineto(Trace{}, folder_.path(), {"w", 1}).at(0)).host_events.empty());
  folder_.write("file", "");
  EXPECT_THROW(write_kineto(trace_, folder_.path() / "file" / "run", {"w", 1}), Error);
}

}  // namespace
}  // namespace hone::trace
