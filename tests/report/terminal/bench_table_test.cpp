// The text of a sweep: aligned rows, intervals, failures and the reasons below the table.
#include "report/terminal/bench_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/results/figures.hpp"
#include "report/terminal/bench_summary.hpp"

namespace hone::report {
namespace {

using bench::record_of;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

BenchForm options() {
  BenchForm options;
  options.models = {"resnet50"};
  options.backends = {"torch", "hone"};
  options.precisions = {"fp32"};
  options.percentiles = {99};
  options.compare_to = "torch";
  return options;
}

bench::Run run_of(const std::string& backend) {
  bench::Run run;
  run.setup = {"resnet50", backend, "fp32", 8};
  run.rounds = {{20, 20, 20}, {20, 20, 20}};
  run.block_wall_ms = {60, 60};
  run.memory.peak = 123'000'000;
  run.accuracy.relative_l2 = 3e-6;
  run.verdict.valid = true;
  return run;
}

std::vector<std::string> notes_of(const bench::Sweep& sweep, const BenchForm& form) {
  std::vector<std::string> remarks;
  for (const bench::Run& run : sweep.runs) {
    for (const std::string& remark : run.remarks()) remarks.push_back(remark);
  }
  return bench_notes(record_of(sweep), form, remarks);
}

TEST(Table, AlignsByShownCharacters) {
  const Table table({{"name", 6, false}, {"ms", 5}});
  EXPECT_EQ(table.row({"a", "±1"}), "a          ±1");
  EXPECT_EQ(table.row({"a", "1.5"}), "a         1.5");
  EXPECT_EQ(table.header(), "name       ms\n-------------");
  EXPECT_EQ(table.row({"too long", "1"}), "too long      1");
}

TEST(BenchTable, ShowsARun) {
  bench::Run run = run_of("hone");
  run.speedup = bench::Speedup{"torch", "fp32", {1.5, 1.4, 1.6, true}, true};
  const std::string row = BenchTable(options()).row(record_of(run));
  for (const char* part : {"resnet50", "hone", "fp32", "8", "20.00 ±0.00", "400.0", "1.50x [1.40 1.60]",
                           "123", "3.0e-06", "VALID"}) {
    EXPECT_THAT(row, HasSubstr(part));
  }
}

TEST(BenchTable, SaysThatTheReferenceOfAQuantizedModelIsQuantized) {
  bench::Sweep sweep;
  sweep.runs = {run_of("hone")};
  const auto note = Contains(HasSubstr("resnet50: the model is quantized, and its reference as well"));
  EXPECT_THAT(notes_of(sweep, options()), Not(note));
  sweep.runs[0].int8_share = 0.969;
  EXPECT_THAT(notes_of(sweep, options()), note);
  sweep.runs[0].setup.precision = "int8";
  EXPECT_THAT(notes_of(sweep, options()), Not(note));
}

TEST(BenchTable, ShowsAgreementAndWhatIsMultipliedAsIntegers) {
  BenchForm sweep = options();
  EXPECT_THAT(BenchTable(sweep).header(), Not(HasSubstr("in int8")));
  sweep.precisions = {"fp32", "int8"};
  const BenchTable table(sweep);
  for (const char* title : {"rel error", "top-1", "in int8"}) EXPECT_THAT(table.header(), HasSubstr(title));
  bench::Run run = run_of("hone");
  run.accuracy.top1_agreement = 0.75;
  run.int8_share = 0.969;
  EXPECT_THAT(table.row(record_of(run)), HasSubstr("  3.0e-06   75.0 %   96.9 %  VALID"));
  EXPECT_THAT(table.row(record_of(run_of("torch"))), HasSubstr("  3.0e-06        -        -  VALID"));
  EXPECT_THAT(bench_notes({}, sweep), Contains(HasSubstr("in int8: the share of the multiply-adds")));
  run.accuracy.samples = 4;
  EXPECT_THAT(bench_summary(record_of(run)),
              Contains("Accuracy: relative L2 error = 3e-06, top-1 agreement = 75.0 % of 4 "
                       "samples, multiply-adds in int8 = 96.9 %"));
}

/// The options of a sweep on a GPU, and a run of it.
BenchForm device_options() {
  BenchForm result = options();
  result.setup.device = "cuda";
  result.setup.streams = 2;
  return result;
}

bench::Run device_run() {
  bench::Run run = run_of("hone");
  run.setup.device = "cuda";
  run.setup.streams = 2;
  run.phases = {{0.5, 0.5}, {0.004, 0.004}, {17, 17}, {0.25, 0.25}};
  run.pipelined = {100, 1600};
  run.memory.device = {50'000'000, 60'000'000, 90'000'000, 77'000'000};
  return run;
}

TEST(BenchTable, ShowsThreeFiguresOfADevice) {
  const BenchTable table(device_options());
  for (const char* title : {"p50 ms", "device ms", "per second", "pipelined", "GPU MB"})
    EXPECT_THAT(table.header(), HasSubstr(title));
  bench::Run run = device_run();
  for (const char* cell : {"20.00 ±0.00", "  17.00", "  400.0", "  500.0", "  77"})
    EXPECT_THAT(table.row(record_of(run)), HasSubstr(cell));
  run.gpu.process_memory_bytes = 612'000'000;
  EXPECT_THAT(table.row(record_of(run)), HasSubstr("  612"));
  EXPECT_EQ(table.row(record_of(run)).size(), table.row(record_of(device_run())).size());
  EXPECT_THAT(bench_notes({}, device_options()), Contains(HasSubstr("without data transfers")));
  EXPECT_THAT(bench_notes({}, device_options()), Contains(HasSubstr("2 streams of overlapping runs")));
}

TEST(BenchTable, LeavesOutColumnsThatATerminalHasNoRoomFor) {
  const auto width = [](const std::string& text) {
    return static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  };
  const BenchForm sweep = device_options();
  bench::Run run = device_run();
  run.speedup = bench::Speedup{"torch", "fp32", {1.02, 0.95, 1.1, true}, true};
  const BenchTable whole(sweep);
  EXPECT_TRUE(whole.left_out().empty());
  EXPECT_EQ(BenchTable(sweep, width(whole.header()) / 2).row(record_of(run)),
            whole.row(record_of(run)));  // a line and one below it
  for (const size_t columns : {80, 100, 120}) {
    const BenchTable table(sweep, columns);
    EXPECT_LE(width(table.row(record_of(run))), columns);
    EXPECT_LE(table.header().find('\n'), columns);
    EXPECT_FALSE(table.left_out().empty());
    for (const std::string& title : table.left_out())
      EXPECT_EQ(table.header().find(title), std::string::npos);
    for (const char* cell : {"hone", "20.00 ±0.00", "~1.02 ±0.08", "VALID"})
      EXPECT_THAT(table.row(record_of(run)), HasSubstr(cell));
  }
  EXPECT_THAT(BenchTable(sweep, 120).row(record_of(run)), HasSubstr("3.0e-06"));
  run.failure = "the worker crashed";
  EXPECT_THAT(BenchTable(sweep, 80).row(record_of(run)), HasSubstr("FAILED: the worker crashed"));
}

TEST(BenchTable, KeepsTailThroughputAndErrorOnTheUsualTerminal) {
  BenchForm sweep = options();
  sweep.backends = {"torch", "torchscript", "hone"};
  sweep.precisions = {"fp32", "bf16"};
  bench::Run run = run_of("torchscript");
  run.speedup = bench::Speedup{"torch", "fp32", {1.5, 1.4, 1.6, true}, true};
  const BenchTable table(sweep, 80);
  EXPECT_THAT(table.left_out(), testing::ElementsAre("peak MB", "top-1", "model"));
  EXPECT_LE(table.header().find('\n'), 80U);
  run.rounds.assign(3, std::vector<double>(100, 20.0));
  for (const char* cell : {"torchscript fp32", "20.00 ±0.00   20.00", "20000.0 1.50x ±0.10", "3.0e-06 VALID"})
    EXPECT_THAT(table.row(record_of(run)), HasSubstr(cell));
  EXPECT_THAT(BenchTable(sweep, 104).left_out(), testing::IsEmpty());
  sweep.models.push_back("resnet18");
  for (const char* cell : {"resnet50 torchscript", "20.00 ±0.00", "1.50x ±0.10", "3.0e-06 VALID"})
    EXPECT_THAT(BenchTable(sweep, 80).row(record_of(run)), HasSubstr(cell));
}

TEST(BenchTable, ShortensCellsThatTheUsualTerminalHasNoRoomFor) {
  BenchForm sweep = options();
  bench::Run run = run_of("hone");
  const auto row = [&] { return BenchTable(sweep, 80).row(record_of(run)); };
  run.rounds = {{0.1765, 0.1766, 0.1767}, {0.1765, 0.1766, 0.1768}};
  EXPECT_THAT(row(), HasSubstr(" 0.177 ±0.001 "));
  run.rounds = {{0.01765, 0.01766, 0.01767}, {0.01765, 0.01766, 0.01768}};
  EXPECT_THAT(row(), AllOf(HasSubstr(" 0.0177 "), Not(HasSubstr("±"))));
  run.speedup = bench::Speedup{"torch", "fp32", {123.4, 120, 127, true}, true};
  EXPECT_THAT(row(), HasSubstr(" 123x ±4 "));
  run.speedup = bench::Speedup{"torch", "fp32", {12.34, 12.1, 12.5, true}, true};
  EXPECT_THAT(row(), HasSubstr(" 12.3x ±0.2 "));
  run.speedup = bench::Speedup{"torch", "fp32", {0.0123, 0.012, 0.0125, true}, true};
  EXPECT_THAT(row(), HasSubstr(" 0.01230x "));
  run.speedup->ratio.known = false;
  EXPECT_THAT(row(), HasSubstr(" 0.01230x [?] "));
  run.speedup = bench::Speedup{"torch", "fp32", {1.02, 0.01, 120, true}, true};
  EXPECT_THAT(row(), HasSubstr(" ~1.02 >100x "));
}

TEST(BenchTable, ShowsTheHalfIntervalAsFinelyAsTheMedian) {
  bench::Run run = run_of("hone");
  run.rounds = {{0.1765, 0.1766, 0.1767}, {0.1765, 0.1766, 0.1768}};
  EXPECT_THAT(BenchTable(options()).row(record_of(run)), HasSubstr("0.1766 ±0.0002"));
  run.rounds = {{0.01765, 0.01766, 0.01767}, {0.01765, 0.01766, 0.01768}};
  EXPECT_THAT(BenchTable(options()).row(record_of(run)), HasSubstr("0.01766 ±0.00002"));
}

TEST(BenchTable, ShowsNoIntervalOfFewSamples) {
  bench::Run run = run_of("hone");
  run.rounds = {{20, 21, 22}};
  EXPECT_THAT(BenchTable(options()).row(record_of(run)), AllOf(HasSubstr(" 21.00 "), Not(HasSubstr("±"))));
}

TEST(BenchTable, SaysThatTheCacheIsCold) {
  BenchForm cold = device_options();
  cold.setup.cold_l2 = true;
  EXPECT_THAT(BenchTable(cold).header(), HasSubstr("p50 ms, cold L2"));
  EXPECT_THAT(BenchTable(device_options()).header(), ::testing::Not(HasSubstr("cold")));
}

TEST(BenchTable, SaysHowManyBusyThreadsThereWere) {
  BenchForm busy = options();
  EXPECT_THAT(BenchTable(busy).header(), Not(HasSubstr("busy")));
  busy.setup.busy = 2;
  EXPECT_THAT(BenchTable(busy).header(), HasSubstr("p50 ms, 2 busy"));
  EXPECT_THAT(bench_notes({}, busy),
              Contains("2 foreign threads spun while runs were measured, as --busy asked."));
}

TEST(BenchTable, CallsNoiseNoDifference) {
  bench::Run run = run_of("hone");
  run.speedup = bench::Speedup{"torch", "fp32", {1.02, 0.95, 1.1, true}, true};
  EXPECT_THAT(BenchTable(options()).row(record_of(run)), HasSubstr("same [0.95 1.10]"));
  run.speedup = bench::Speedup{"torch", "fp32", {1.02, 0.01, 120, true}, true};
  EXPECT_THAT(BenchTable(options()).row(record_of(run)), HasSubstr("same [>100x]"));
  run.speedup = bench::Speedup{"torch", "fp32", {17300, 120.25, 90000, true}, true};
  EXPECT_THAT(BenchTable(options()).row(record_of(run)), HasSubstr("17300x [>100x]"));
  run.speedup = bench::Speedup{"torch", "fp32", {12.34, 12.1, 12.5, true}, true};
  EXPECT_THAT(BenchTable(options()).row(record_of(run)), HasSubstr("12.3x [12.1 12.5]"));
  run.speedup = bench::Speedup{"torch", "fp32", {1.02, 0.95, 1.1, true}, true};
  run.speedup->ratio.known = false;
  EXPECT_THAT(BenchTable(options()).row(record_of(run)), HasSubstr("1.02x [?]"));
  run.speedup->ratio.value = 0.00017;
  EXPECT_THAT(BenchTable(options()).row(record_of(run)), HasSubstr("0.00017"));
}

TEST(BenchTable, ShowsAFailureInItsRow) {
  bench::Run run = run_of("hone");
  run.failure = "the worker crashed";
  EXPECT_THAT(BenchTable(options()).row(record_of(run)), HasSubstr("FAILED: the worker crashed"));
}

TEST(BenchTable, TellsModelsOfOneNameApart) {
  BenchForm two = options();
  two.models = {"a/net.onnx", "b/net.onnx"};
  bench::Run run = run_of("hone");
  for (const std::string model : {"a/net", "b/net"}) {
    run.setup.model = model + ".onnx";
    EXPECT_THAT(BenchTable(two).row(record_of(run)), ::testing::StartsWith(model + "  "));
  }
}

TEST(BenchTable, ClaimsP99OnlyWithEnoughSamples) {
  bench::Run run = run_of("hone");
  EXPECT_THAT(BenchTable(options()).row(record_of(run)), HasSubstr("  -  "));
  run.rounds.assign(3, std::vector<double>(100, 20.0));
  EXPECT_THAT(BenchTable(options()).row(record_of(run)), HasSubstr("20.00 ±0.00     20.00"));
}

TEST(BenchNotes, GiveReasonsAndNotesOnce) {
  bench::Sweep sweep;
  sweep.runs = {run_of("torch"), run_of("hone"), run_of("hone")};
  sweep.runs[0].verdict = {false, {"drift", "noise"}};
  for (bench::Run& run : sweep.runs) run.notes = {"bf16 is emulated"};
  const std::vector<std::string> notes = notes_of(sweep, options());
  EXPECT_THAT(
      notes,
      Contains("INVALID, resnet50 torch fp32 batch 8: drift; a longer --warmup and --duration even it out"));
  EXPECT_THAT(notes, Contains("INVALID, resnet50 torch fp32 batch 8: noise"));
  EXPECT_THAT(notes, Contains("all systems: bf16 is emulated").Times(1));
  EXPECT_THAT(notes, Contains(HasSubstr("bf16 is emulated")).Times(1));
}

TEST(BenchNotes, NameTheSystemsThatShareANote) {
  bench::Sweep sweep;
  sweep.runs = {run_of("torch"), run_of("hone"), run_of("hone"), run_of("other")};
  for (const size_t i : {0, 1, 2}) sweep.runs[i].notes = {"its batch is fixed"};
  sweep.runs[3].notes = {"it is slow"};
  const std::vector<std::string> notes = notes_of(sweep, options());
  EXPECT_THAT(notes, Contains("torch fp32, hone fp32: its batch is fixed"));
  EXPECT_THAT(notes, Contains("other fp32: it is slow"));
}

TEST(BenchSummary, HasTrtexecsLines) {
  const std::vector<std::string> lines = bench_summary(record_of(run_of("hone")));
  EXPECT_THAT(lines, Contains("Throughput: 50 qps"));
  EXPECT_THAT(lines, Contains("Samples per second: 400"));
  bench::Run single = run_of("hone");
  single.setup.batch = 1;
  EXPECT_THAT(bench_summary(record_of(single)), Not(Contains(HasSubstr("Samples per second"))))
      << "the throughput says that";
  EXPECT_THAT(lines, Contains(HasSubstr("Latency: min = 20 ms, max = 20 ms, mean = 20 ms, median = 20 ms, "
                                        "percentile(90%) = - (29 samples needed), percentile(95%) = - (59 "
                                        "samples needed), percentile(99%) = - (299 samples needed)")))
      << "six samples";
  EXPECT_THAT(lines, Contains("Total Host Walltime: 0.12 s"));
  EXPECT_THAT(lines, Contains("Result is : VALID"));
}

TEST(BenchSummary, ClaimsPercentilesOnlyWithEnoughSamples) {
  bench::Run run = run_of("hone");
  run.rounds.assign(3, std::vector<double>(99, 20.0));
  EXPECT_THAT(bench_summary(record_of(run)),
              Contains(HasSubstr("percentile(95%) = 20 ms, percentile(99%) = -")));
  run.rounds.assign(3, std::vector<double>(100, 20.0));
  EXPECT_THAT(bench_summary(record_of(run)), Contains(HasSubstr("percentile(99%) = 20 ms")));
}

TEST(BenchSummary, NamesEveryFigureOfADevice) {
  bench::Run run = device_run();
  run.growth = {100'000, 200'000'000, 200'500'000, 77'000'000, 77'000'000};
  run.memory.engine_file = 52'000'000;
  run.memory.weights = 51'000'000;
  const std::vector<std::string> lines = bench_summary(record_of(run));
  EXPECT_THAT(lines, Contains(HasSubstr("Enqueue Time: min = 0.004 ms")));
  EXPECT_THAT(lines, Contains(HasSubstr("H2D Latency: min = 0.5 ms")));
  EXPECT_THAT(lines, Contains(HasSubstr("GPU Compute Time: min = 17 ms")));
  EXPECT_THAT(lines, Contains(HasSubstr("D2H Latency: min = 0.25 ms")));
  EXPECT_THAT(lines, Contains("Pipelined throughput: 62.5 qps on 2 streams (without data transfers)"));
  EXPECT_THAT(lines, Contains("Device memory: planned = 50 MB, allocated = 60 MB, by the driver = 77 MB"));
  EXPECT_THAT(lines, Contains("Model size: engine file = 52 MB, packed weights = 51 MB"));
  EXPECT_THAT(lines, Contains("Memory growth over 100000 runs: host = 0.5 MB, device = 0 MB"));
}

TEST(BenchSummary, LeavesOpenWhatTheDriverCannotTellApart) {
  bench::Run run = device_run();
  run.memory.device.driver = 0;
  EXPECT_THAT(bench_summary(record_of(run)), Contains(HasSubstr("allocated = 60 MB, by the driver = -")));
}

TEST(BenchNotes, SayWhyTheGpuWasNotWatched) {
  bench::Sweep sweep;
  sweep.runs = {device_run(), device_run()};
  for (bench::Run& run : sweep.runs) run.gpu.unknown = "NVML cannot be loaded: gone";
  EXPECT_THAT(notes_of(sweep, device_options()),
              Contains("clocks and other processes of the GPU were not watched: NVML cannot be loaded: gone")
                  .Times(1));
}

TEST(BenchNotes, SayInWhichTypeANarrowReferenceComputes) {
  bench::Sweep sweep;
  sweep.runs = {device_run(), device_run()};
  EXPECT_THAT(notes_of(sweep, device_options()), Not(Contains(HasSubstr("its reference"))));
  for (bench::Run& run : sweep.runs) run.accuracy.reference = tensor::Precision::kFp16;
  EXPECT_THAT(notes_of(sweep, device_options()),
              Contains(HasSubstr("its reference computes in fp16, as the model says")).Times(1));
}

TEST(BenchNotes, SayThatOtherProcessesMayBeUnseen) {
  constexpr const char* kUnseen =
      "NVML does not list all processes on the GPU: others may have used it unseen";
  bench::Sweep sweep;
  sweep.runs = {device_run(), device_run()};
  EXPECT_THAT(notes_of(sweep, device_options()), Not(Contains(kUnseen)));
  for (bench::Run& run : sweep.runs) run.gpu.add({}, 0);
  EXPECT_THAT(notes_of(sweep, device_options()), Contains(kUnseen).Times(1));
  for (bench::Run& run : sweep.runs) run.gpu.saw_processes(0, std::nullopt);
  EXPECT_THAT(notes_of(sweep, device_options()), Not(Contains(kUnseen)));
}

}  // namespace
}  // namespace hone::report
