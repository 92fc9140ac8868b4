// The result file: every field of the schema, what a reader gets back, and files that are none.
#include "bench/results/results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "bench/results/model_names.hpp"
#include "bench/results/result_file.hpp"
#include "bench/results/run_schema.hpp"
#include "system/scratch.hpp"

namespace hone::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Run measured_run() {
  Run run;
  run.setup = {"resnet50", "hone", "fp32", 8};
  run.setup.threads = 2;
  run.rounds = {{10, 12, 11}, {10, 11, 13}};
  run.block_wall_ms = {34, 36};
  run.memory = {200'000'000, 20'000'000, 5'000'000, 100'000'000, 50'000'000};
  run.accuracy.relative_l2 = 1e-6;
  run.accuracy.max_abs = 2e-6;
  run.accuracy.top1_agreement = 1;
  run.accuracy.samples = 2;
  run.verdict.valid = true;
  return run;
}

Run failed_run() {
  Run run;
  run.setup = {"resnet50", "torch", "bf16", 8};
  run.failure = "the worker crashed";
  run.verdict = {false, {"failed: the worker crashed"}};
  return run;
}

TEST(Results, HaveEveryFieldOfTheSchema) {
  const Json json = to_json(measured_run());
  EXPECT_EQ(json["model"], "resnet50");
  EXPECT_EQ(json["backend"], "hone");
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_EQ(json["precision"], "fp32");
  EXPECT_EQ(json["batch"], 8);
  const Json& latency = json["latency_ms"];
  EXPECT_EQ(latency["p50"], 11);
  EXPECT_EQ(latency["p90"], 13);
  EXPECT_EQ(latency["p95"], 13);
  EXPECT_EQ(latency["p99"], 13);
  EXPECT_NEAR(latency["mean"].get<double>(), 67.0 / 6, 1e-12);
  EXPECT_GT(latency["sd"].get<double>(), 0);
  EXPECT_EQ(latency["n"], 6);
  EXPECT_EQ(latency["p50_interval"], Json({latency["min"], latency["max"]}));
  EXPECT_THAT(latency["supported"], ElementsAre("p50"));
  EXPECT_NEAR(json["throughput_per_s"].get<double>(), 8 * 6 / 0.070, 1e-9);
  EXPECT_EQ(json["peak_memory_mb"], 200);
  EXPECT_EQ(json["memory"]["weights_mb"], 100);
  EXPECT_EQ(json["accuracy"]["relative_l2"], 1e-6);
  EXPECT_EQ(json["accuracy"]["max_abs"], 2e-6);
  EXPECT_EQ(json["accuracy"]["top1_agreement"], 1);
  EXPECT_TRUE(json["int8_share"].is_null());
  bench::Run integers = measured_run();
  integers.int8_share = 0.97;
  EXPECT_EQ(to_json(integers)["int8_share"], 0.97);
  EXPECT_EQ(json["verdict"]["valid"], true);
  EXPECT_TRUE(json["verdict"]["reasons"].empty());
  EXPECT_TRUE(json["failure"].is_null());
  EXPECT_EQ(json["samples_ms"].size(), 2u);
}

TEST(Results, HaveNoIntervalOfFiveSamples) {
  bench::Run run = measured_run();
  run.rounds = {{10, 11, 12}, {10, 11}};
  EXPECT_EQ(to_json(run)["latency_ms"]["n"], 5);
  EXPECT_TRUE(to_json(run)["latency_ms"]["p50_interval"].is_null());
}

TEST(Results, KeepThreeFiguresApartOnADevice) {
  bench::Run run = measured_run();
  run.setup.device = "cuda";
  run.setup.streams = 4;
  run.phases = {{0.1, 0.3, 0.2}, {0.01, 0.01, 0.01}, {5, 6, 7}, {0, 0, 0}};
  run.pipelined = {100, 500};
  run.gpu.add({.sm_mhz = 1980}, 0.2);
  run.memory.device = {1'000'000, 2'000'000, 3'000'000, 4'000'000};
  run.memory.streams_allocated = 5'000'000;
  run.memory.engine_file = 50'000'000;
  run.growth = {1000, 10'000'000, 11'000'000, 20'000'000, 20'000'000};
  const Json json = to_json(run);
  EXPECT_EQ(json["latency_ms"]["p50"], 11);
  EXPECT_EQ(json["device_ms"]["p50"], 6);
  EXPECT_EQ(json["device_ms"]["n"], 3);
  EXPECT_EQ(json["enqueue_ms"]["p50"], 0.01);
  EXPECT_EQ(json["h2d_ms"]["p50"], 0.2);
  EXPECT_TRUE(json["d2h_ms"].is_null()) << "nothing but zeros is not known";
  EXPECT_EQ(json["pipelined"]["throughput_per_s"], 8 * 100 / 0.5);
  EXPECT_EQ(json["pipelined"]["streams"], 4);
  EXPECT_EQ(json["pipelined"]["includes_transfers"], false);
  EXPECT_EQ(json["machine"]["gpu"]["sm_mhz"]["max"], 1980);
  EXPECT_EQ(json["device_memory"]["planned_mb"], 1);
  EXPECT_EQ(json["device_memory"]["allocated_mb"], 2);
  EXPECT_EQ(json["device_memory"]["peak_allocated_mb"], 3);
  EXPECT_EQ(json["device_memory"]["driver_mb"], 4);
  EXPECT_TRUE(json["device_memory"]["process_mb"].is_null());
  EXPECT_EQ(json["device_memory"]["streams_allocated_mb"], 5);
  EXPECT_EQ(json["memory"]["engine_file_mb"], 50);
  EXPECT_EQ(json["growth"]["runs"], 1000);
  EXPECT_THAT(json["growth"]["resident_mb"], ElementsAre(10, 11));
  EXPECT_THAT(json["growth"]["device_mb"], ElementsAre(20, 20));
  EXPECT_EQ(json["cold_l2"], false);
}

TEST(Results, HaveNoFiguresOfADeviceOnTheCpu) {
  const Json json = to_json(measured_run());
  for (const char* name :
       {"device_ms", "enqueue_ms", "h2d_ms", "d2h_ms", "pipelined", "device_memory", "growth"})
    EXPECT_TRUE(json[name].is_null()) << name;
  EXPECT_TRUE(json["machine"]["gpu"].is_null());
}

TEST(Results, KeepTheFieldsOfAFailedRun) {
  const Json json = to_json(failed_run());
  EXPECT_EQ(json["failure"], "the worker crashed");
  EXPECT_TRUE(json["latency_ms"]["p50"].is_null());
  EXPECT_EQ(json["latency_ms"]["n"], 0);
  EXPECT_TRUE(json["throughput_per_s"].is_null());
  EXPECT_TRUE(json["peak_memory_mb"].is_null());
  EXPECT_TRUE(json["accuracy"]["relative_l2"].is_null());
  EXPECT_EQ(json["verdict"]["valid"], false);
}

TEST(Results, StateSpeedupWithItsInterval) {
  bench::Run run = measured_run();
  run.speedup = Speedup{"torch", "fp32", {1.5, 1.4, 1.6, true}, true};
  Json json = to_json(run)["speedup"];
  EXPECT_EQ(json["over"]["backend"], "torch");
  EXPECT_EQ(json["ratio"], 1.5);
  EXPECT_THAT(json["interval"], ElementsAre(1.4, 1.6));
  EXPECT_EQ(json["differs"], true);
  run.speedup->ratio = {1.05, 0.9, 1.2, true};
  EXPECT_EQ(to_json(run)["speedup"]["differs"], false);
  run.speedup->ratio = {1.5, 1.5, 1.5, false};
  json = to_json(run)["speedup"];
  EXPECT_TRUE(json["interval"].is_null());
  EXPECT_EQ(json["differs"], false);
}

TEST(Results, ReadBackWhatAGateNeeds) {
  const system::Scratch scratch;
  Sweep sweep;
  sweep.context = {{"cpu", "a processor"}};
  sweep.runs = {measured_run(), failed_run()};
  sweep.complete = true;
  const auto path = scratch.folder() / "sweep.json";
  write_sweep(sweep, path);
  const Sweep read = read_sweep(path);
  EXPECT_TRUE(read.complete);
  EXPECT_EQ(read.context["cpu"], "a processor");
  ASSERT_EQ(read.runs.size(), 2u);
  EXPECT_EQ(read.runs[0].setup, sweep.runs[0].setup);
  EXPECT_EQ(read.runs[0].rounds, sweep.runs[0].rounds);
  EXPECT_EQ(read.runs[0].setup.threads, 2);
  EXPECT_EQ(read.runs[1].failure, sweep.runs[1].failure);
}

/// Records are written and read by one description, so nothing gets lost on the way.
TEST(Results, RecordsAreReadAsTheyAreWritten) {
  Sweep sweep;
  sweep.context = {{"cpu", "a processor"}};
  sweep.runs = {measured_run(), failed_run()};
  sweep.runs[0].setup.device = "cuda";
  sweep.runs[0].notes = {"a note"};
  sweep.runs[0].speedup = Speedup{"torch", "fp32", {.value = 2, .low = 1.5, .high = 3, .known = true}, true};
  Json written = to_json(sweep);
  const SweepRecord record = parse_record(written);
  EXPECT_EQ(record.runs.at(0).speedup.value().over.backend, "torch");
  written.erase("definitions");
  EXPECT_EQ(base::described_json(record), written);
}

TEST(Results, ReadBackWhichRunsTookTurns) {
  Sweep sweep;
  sweep.runs = {measured_run(), measured_run(), failed_run()};
  sweep.runs[0].session = 1;
  sweep.runs[1].session = 2;
  Json json = to_json(sweep);
  EXPECT_EQ(json["runs"][0]["session"], 1);
  EXPECT_TRUE(json["runs"][2]["session"].is_null()) << "it was not begun";
  json["runs"][1].erase("session");
  const Sweep read = parse_sweep(json);
  EXPECT_EQ(read.runs[0].session, 1);
  EXPECT_EQ(read.runs[1].session, std::nullopt) << "files from before there was one";
  EXPECT_EQ(read.runs[2].session, std::nullopt);
}

TEST(Results, ReadBackWhereARunWasMeasured) {
  const system::Scratch scratch;
  Sweep sweep;
  sweep.runs = {measured_run(), measured_run()};
  sweep.runs[0].setup.device = "cuda";
  sweep.runs[0].setup.transfers = true;
  sweep.runs[0].setup.cold_l2 = true;
  sweep.runs[0].setup.busy = 1;
  Json json = to_json(sweep);
  EXPECT_EQ(json["runs"][0]["includes_transfers"], true);
  // Files from before these fields existed are still baselines.
  json["runs"][1].erase("device");
  json["runs"][1].erase("includes_transfers");
  json["runs"][1].erase("cold_l2");
  json["runs"][1].erase("busy_threads");
  const auto path = scratch.folder() / "sweep.json";
  base::write_file_atomic(path, json.dump());
  const Sweep read = read_sweep(path);
  EXPECT_EQ(read.runs[0].setup.device, "cuda");
  EXPECT_TRUE(read.runs[0].setup.transfers);
  EXPECT_TRUE(read.runs[0].setup.cold_l2);
  EXPECT_FALSE(read.runs[1].setup.cold_l2);
  EXPECT_EQ(read.runs[0].setup.busy, 1);
  EXPECT_EQ(read.runs[1].setup.busy, 0);
  EXPECT_EQ(read.runs[1].setup.device, "cpu");
  EXPECT_FALSE(read.runs[1].setup.transfers);
}

/// The error of reading a file with this content.
std::string complaint(const std::string& content) {
  const system::Scratch scratch;
  const auto path = scratch.folder() / "bad.json";
  base::write_file_atomic(path, content);
  try {
    read_sweep(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("bad.json"));
    return error.what();
  }
  return "no complaint";
}

TEST(Results, NameTheFieldThatIsWrong) {
  EXPECT_THAT(complaint("{"), HasSubstr("no JSON"));
  EXPECT_THAT(complaint("[]"), HasSubstr("the field schema"));
  EXPECT_THAT(complaint(R"({"schema":"other"})"), HasSubstr("hone.bench"));
  EXPECT_THAT(complaint(R"({"schema":"hone.bench","version":2})"), HasSubstr("version 2"));
  const std::string start = R"({"schema":"hone.bench","version":1,"complete":true,"context":{},"runs":[)";
  EXPECT_THAT(complaint(start + R"({"model":1}]})"), HasSubstr("the field runs[0].model is no text"));
  EXPECT_THAT(complaint(start + R"({"model":"m","backend":"b","precision":"fp32","batch":1,"threads":1,)"
                                R"("samples_ms":[[-1]],"failure":null}]})"),
              HasSubstr("runs[0].samples_ms holds -1"));
  EXPECT_THAT(complaint(start + "7]}"), HasSubstr("the field runs[0] is no object"));
}

TEST(Results, WriteSmallFilesPerModelAndBackend) {
  const system::Scratch scratch;
  Sweep sweep;
  sweep.runs = {measured_run(), failed_run()};
  EXPECT_THAT(write_small_results(sweep, {"resnet50"}, scratch.folder()),
              ElementsAre(scratch.folder() / "resnet50" / "hone.json"));
  const Json json = Json::parse(base::read_file(scratch.folder() / "resnet50" / "hone.json"));
  EXPECT_EQ(json["results"][0]["latency_ms"]["p50"], 11);
  EXPECT_FALSE(std::filesystem::exists(scratch.folder() / "resnet50" / "torch.json"));
}

TEST(Results, WriteSmallFilesOfModelsOfOneName) {
  const system::Scratch scratch;
  Sweep sweep;
  sweep.runs = {measured_run(), measured_run()};
  sweep.runs[0].setup.model = "a/net.onnx";
  sweep.runs[1].setup.model = "b/net.onnx";
  write_small_results(sweep, {"a/net.onnx", "b/net.onnx"}, scratch.folder());
  for (const char* folder : {"a", "b"}) {
    const Json json = Json::parse(base::read_file(scratch.folder() / folder / "net" / "hone.json"));
    EXPECT_EQ(json["model"], std::string(folder) + "/net.onnx");
    EXPECT_EQ(json["results"].size(), 1u);
  }
}

TEST(Results, WriteSmallFilesOfASweepThatWasCutShortUnderTheNamesOfAWholeOne) {
  const system::Scratch scratch;
  Sweep sweep;
  sweep.runs = {measured_run()};
  sweep.runs[0].setup.model = "a/net.onnx";
  const auto file = scratch.folder() / "a" / "net" / "hone.json";
  EXPECT_THAT(write_small_results(sweep, {"a/net.onnx", "b/net.onnx"}, scratch.folder()), ElementsAre(file));
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(DistinctNames, ShowAsMuchOfThePathAsTheyMust) {
  EXPECT_THAT(distinct_names({"resnet50", "some/net.onnx"}), ElementsAre("resnet50", "net"));
  EXPECT_THAT(distinct_names({"a/net.onnx", "./b/net.onnx", "x"}), ElementsAre("a/net", "b/net", "x"));
  EXPECT_THAT(distinct_names({"a/c/net.onnx", "b/c/net.onnx"}), ElementsAre("a/c/net", "b/c/net"));
  EXPECT_THAT(distinct_names({"net.onnx", "/a/net.onnx"}), ElementsAre("net", "a/net"));
  EXPECT_THAT(distinct_names({"net.onnx", "net.pt"}), ElementsAre("net.onnx", "net.pt"));
  EXPECT_THAT(distinct_names({"../net.onnx", "net.onnx"}), ElementsAre("__/net", "net"));
  EXPECT_THAT(distinct_names({"a net.onnx", "a_net.onnx"}), ElementsAre("a_net.onnx-1", "a_net.onnx-2"));
}

TEST(SameModel, IsToldByThePath) {
  EXPECT_TRUE(same_model("resnet50", "resnet50"));
  EXPECT_TRUE(same_model("./a/../net.onnx", "net.onnx"));
  EXPECT_FALSE(same_model("a/net.onnx", "net.onnx"));
  const system::Scratch scratch;
  const auto file = scratch.folder() / "net.onnx";
  base::write_file_atomic(file, "");
  EXPECT_TRUE(same_model(file.string(), std::filesystem::relative(file).string()));
}

TEST(FileStem, IsSafe) {
  EXPECT_EQ(file_stem("resnet50"), "resnet50");
  EXPECT_EQ(file_stem("/some/where/my net.onnx"), "my_net");
  EXPECT_EQ(file_stem(".."), "model");
  EXPECT_EQ(file_stem("/"), "model");
}

}  // namespace
}  // namespace hone::bench
