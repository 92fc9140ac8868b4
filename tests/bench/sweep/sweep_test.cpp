// Whole sweeps with fake workers: what fails is one row, the rest goes on, and the result is complete.
#include "bench/sweep/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "bench/fixture.hpp"
#include "system/nvml_fixture.hpp"

namespace hone::bench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Sweep sweep_of(const SweepOptions& options, const std::vector<std::string>& modes,
               const SweepEvents& events = {}) {
  Peers peers = make_peers();
  for (const std::string& mode : modes) {
    peers.add(mode.substr(0, mode.find(' ')) + "=" + fake_worker(mode));
  }
  return run_sweep(options, peers, events, nullptr);
}

TEST(Sweep, GoesOnWhenWorkersFail) {
  const TemporaryCache cache;
  const Sweep sweep =
      sweep_of(quick_options({"good", "crash", "exit", "memory"}), {"good", "crash", "exit", "memory"});
  ASSERT_EQ(sweep.runs.size(), 4u);
  EXPECT_TRUE(sweep.complete);
  EXPECT_TRUE(sweep.runs[0].measured());
  EXPECT_GE(sweep.runs[0].sample_count(), 10);
  EXPECT_THAT(*sweep.runs[1].failure, HasSubstr("crashed with signal 11"));
  EXPECT_THAT(*sweep.runs[2].failure, HasSubstr("exited with code 7"));
  EXPECT_EQ(*sweep.runs[3].failure, "out of memory");
  EXPECT_FALSE(sweep.runs[3].verdict.valid);
}

TEST(Sweep, FailsTheRowsOfABatchThatIsTooLarge) {
  const TemporaryCache cache;
  SweepOptions options = quick_options({"good", "crash"});
  options.batches = {int64_t{1} << 40, 1};
  const Sweep sweep = sweep_of(options, {"good", "crash"});
  ASSERT_EQ(sweep.runs.size(), 4u);
  EXPECT_TRUE(sweep.complete);
  for (const size_t row : {0, 1}) {
    EXPECT_THAT(*sweep.runs[row].failure, HasSubstr("the inputs of batch 1099511627776 take"));
    EXPECT_FALSE(sweep.runs[row].verdict.valid);
  }
  EXPECT_TRUE(sweep.runs[2].measured());
  EXPECT_THAT(*sweep.runs[3].failure, HasSubstr("crashed with signal 11"));
}

TEST(Sweep, FailsTheRowOfAProgramThatIsMissing) {
  const TemporaryCache cache;
  SweepOptions options = quick_options({"absent", "good"});
  Peers peers = make_peers();
  peers.add("absent=/no/such/program");
  peers.add("good=" + fake_worker("good"));
  const Sweep sweep = run_sweep(options, peers, {}, nullptr);
  EXPECT_THAT(*sweep.runs[0].failure, HasSubstr("/no/such/program"));
  EXPECT_TRUE(sweep.runs[1].measured());
}

TEST(Sweep, ComparesPairedRounds) {
  const TemporaryCache cache;
  SweepOptions options = quick_options({"fast", "slow"});
  Peers peers = make_peers();
  peers.add("fast=" + fake_worker("steady 1"));
  peers.add("slow=" + fake_worker("steady 4"));
  const Sweep sweep = run_sweep(options, peers, {}, nullptr);
  EXPECT_FALSE(sweep.runs[0].speedup.has_value());
  ASSERT_TRUE(sweep.runs[1].speedup.has_value());
  const Speedup& speedup = *sweep.runs[1].speedup;
  EXPECT_EQ(speedup.backend, "fast");
  EXPECT_TRUE(speedup.interleaved);
  EXPECT_TRUE(speedup.ratio.known);
  EXPECT_DOUBLE_EQ(speedup.ratio.high, 0.25);
}

TEST(Sweep, MeasuresAccuracyAgainstTheReference) {
  const TemporaryCache cache;
  SweepOptions options = quick_options({"good", "wrong", "nan"});
  options.batches = {1, 3};
  const Sweep sweep = sweep_of(options, {"good", "wrong", "nan"});
  ASSERT_EQ(sweep.runs.size(), 6u);
  for (const size_t first : {0, 3}) {
    const Accuracy& same = sweep.runs[first].accuracy;
    EXPECT_EQ(same.reason, "");
    EXPECT_EQ(same.samples, 2);
    EXPECT_EQ(*same.relative_l2, 0);
    EXPECT_EQ(*same.top1_agreement, 1);
    EXPECT_NEAR(*sweep.runs[first + 1].accuracy.relative_l2, 0.5, 1e-6);
    EXPECT_THAT(sweep.runs[first + 2].verdict.reasons, Contains(HasSubstr("NaN")));
  }
}

TEST(Sweep, KeepsTheReferenceInTheCache) {
  const TemporaryCache cache;
  sweep_of(quick_options({"good"}), {"good"});
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cache.folder())) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 1u);
  // From now on the reference cannot run, and need not.
  Peers broken({"/no/such/hone"});
  broken.add("good=" + fake_worker("good"));
  const Sweep again = run_sweep(quick_options({"good"}), broken, {}, nullptr);
  EXPECT_EQ(*again.runs[0].accuracy.relative_l2, 0);
}

TEST(Sweep, SaysWhyThereIsNoAccuracy) {
  const TemporaryCache cache;
  Peers broken({"/no/such/hone"});
  broken.add("good=" + fake_worker("good"));
  const Sweep sweep = run_sweep(quick_options({"good"}), broken, {}, nullptr);
  EXPECT_TRUE(sweep.runs[0].measured());
  EXPECT_FALSE(sweep.runs[0].accuracy.relative_l2.has_value());
  EXPECT_THAT(sweep.runs[0].accuracy.reason, HasSubstr("the reference failed"));
}

TEST(Sweep, RunsAModelOfFixedBatchAtItsBatchAlone) {
  const TemporaryCache cache;
  SweepOptions options = quick_options({"good"});
  options.load_model = [](const std::string& spec) { return make_model(spec, 4); };
  options.batches = {};
  Sweep sweep = sweep_of(options, {"good"});
  ASSERT_EQ(sweep.runs.size(), 1u);
  EXPECT_EQ(sweep.runs[0].setup.batch, 4);
  EXPECT_TRUE(sweep.runs[0].measured());
  EXPECT_EQ(*sweep.runs[0].accuracy.relative_l2, 0);
  options.batches = {8};
  try {
    sweep_of(options, {"good"});
    FAIL() << "a batch that the model has not was measured";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("is fixed at 4: give --batch 4; hone export"));
  }
}

TEST(Sweep, KeepsWhatWasMeasuredWhenInterrupted) {
  const TemporaryCache cache;
  SweepOptions options = quick_options({"good"});
  options.batches = {1, 2, 3};
  Peers peers = make_peers();
  peers.add("good=" + fake_worker("good"));
  system::StopFlag stop = false;
  std::vector<size_t> groups;
  SweepEvents events;
  events.on_change = [&](const Sweep& sweep) {
    // In the middle of the second group, after its first round.
    if (sweep.runs.size() == 2 && !sweep.runs[1].rounds.empty()) stop = true;
  };
  events.on_group = [&](std::span<const bench::Run> runs) { groups.push_back(runs.size()); };
  const Sweep sweep = run_sweep(options, peers, events, &stop);
  EXPECT_FALSE(sweep.complete);
  ASSERT_EQ(sweep.runs.size(), 2u);
  EXPECT_TRUE(sweep.runs[0].measured());
  EXPECT_FALSE(sweep.runs[1].rounds.empty());
  EXPECT_THAT(sweep.runs[1].verdict.reasons, Contains("the sweep was interrupted"));
  EXPECT_EQ(groups, (std::vector<size_t>{1, 1}));
}

TEST(Sweep, SaysOfEveryRunUnderWayThatItIsNotFinished) {
  const TemporaryCache cache;
  SweepOptions options = quick_options({"good", "crash"});
  Peers peers = make_peers();
  for (const char* mode : {"good", "crash"}) peers.add(std::string(mode) + "=" + fake_worker(mode));
  size_t unfinished = 0;
  SweepEvents events;
  events.on_change = [&](const Sweep& sweep) {
    for (const bench::Run& run : sweep.runs) {
      EXPECT_EQ(run.verdict.valid, run.verdict.reasons.empty());
      const auto reason = Contains("not finished: the sweep was still running when this file was written");
      if (::testing::Value(run.verdict.reasons, reason)) ++unfinished;
      if (run.failure || sweep.complete) {
        EXPECT_THAT(run.verdict.reasons, Not(reason));
      }
    }
  };
  run_sweep(options, peers, events, nullptr);
  EXPECT_GT(unfinished, 0u);
}

TEST(Sweep, TellsItsPlanBeforeItMeasures) {
  const TemporaryCache cache;
  SweepOptions options = quick_options({"good", "absent"});
  options.batches = {};
  options.measure.setup.threads = 3;
  options.measure.setup.transfers = true;
  Peers peers = make_peers();
  peers.add("good=" + fake_worker("good"));
  peers.add("absent=/no/such/program");
  SweepEvents events;
  std::vector<std::string> planned;
  bool changed = false;
  events.on_change = [&](const Sweep&) { changed = true; };
  events.on_plan = [&](const Sweep& plan, double) {
    EXPECT_TRUE(plan.context.contains("cpu"));
    for (const bench::Run& run : plan.runs) {
      planned.push_back(run.setup.text());
      EXPECT_EQ(run.setup.threads, 3);
      EXPECT_TRUE(run.setup.transfers);
      EXPECT_FALSE(run.measured());
    }
    fail_environment("no, thank you");
  };
  EXPECT_THROW(run_sweep(options, peers, events, nullptr), Error);
  ASSERT_EQ(planned.size(), 4u) << "the batches of a model that leaves them open";
  EXPECT_EQ(planned[1], "tiny absent fp32 batch 1");
  EXPECT_EQ(planned[2], "tiny good fp32 batch 8");
  EXPECT_FALSE(changed) << "nothing is written for a sweep that does not begin";
}

TEST(Sweep, SaysOfAWorkerThatCannotStartWhereItWouldHaveRun) {
  const TemporaryCache cache;
  SweepOptions options = quick_options({"absent"});
  options.measure.setup.device = "cuda";
  Peers peers = make_peers();
  peers.add("absent=/no/such/program");
  const Sweep sweep = run_sweep(options, peers, {}, nullptr);
  EXPECT_TRUE(sweep.runs[0].failure.has_value());
  EXPECT_EQ(sweep.runs[0].setup.device, "cuda");
}

TEST(Sweep, StopsWhenTheResultCannotBeWritten) {
  const TemporaryCache cache;
  SweepEvents events;
  events.on_change = [](const Sweep& sweep) { write_sweep(sweep, "/proc/no/such/folder/x.json"); };
  try {
    run_sweep(quick_options({"reference"}), make_peers(), events, nullptr);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_THAT(error.what(), HasSubstr("/proc/no/such/folder/x.json"));
  }
}

/// A sweep on a GPU that NVML describes, with the fake library.
SweepOptions gpu_options(std::vector<std::string> backends) {
  ::setenv("HONE_NVML", system::kFakeNvml.c_str(), 1);
  SweepOptions options = quick_options(std::move(backends));
  options.measure.setup.device = "cuda";
  options.measure.setup.streams = 2;
  return options;
}

TEST(Sweep, TellsWhatTheDriverCountsOfAWorkerThatIsAlone) {
  const TemporaryCache cache;
  const system::FakeGpu fake("sm=1500 processes=1");
  const Sweep sweep = sweep_of(gpu_options({"gpu"}), {"gpu"});
  const bench::Run& run = sweep.runs[0];
  ASSERT_TRUE(run.measured()) << run.failure.value_or("");
  EXPECT_EQ(run.memory.device.driver, 13'000'000);
  EXPECT_EQ(run.growth.device_first, 13'000'000);
  EXPECT_EQ(run.growth.device_last, 13'000'000);
}

TEST(Sweep, MeasuresWhatAGpuTellsInRoundsOfTheirOwn) {
  const TemporaryCache cache;
  const system::FakeGpu fake("sm=1500 processes=1");
  const Sweep sweep = sweep_of(gpu_options({"gpu", "good"}), {"gpu", "good"});
  const bench::Run& run = sweep.runs[0];
  ASSERT_TRUE(run.measured()) << run.failure.value_or("");
  EXPECT_EQ(run.phases.device_ms, std::vector<double>(9, 1.0)) << "three rounds of three runs";
  EXPECT_EQ(run.phases.h2d_ms.size(), 9u);
  EXPECT_EQ(run.pipelined.runs, 24);
  EXPECT_DOUBLE_EQ(run.pipelined_throughput(), 24 / 0.012);
  EXPECT_EQ(run.memory.device.planned, 10'000'000);
  EXPECT_EQ(run.memory.engine_file, 3'000'000);
  EXPECT_EQ(run.memory.streams_allocated, 11'000'000);
  EXPECT_GT(run.growth.runs, 0);
  EXPECT_EQ(run.memory.device.driver, 0) << "another worker took some of the free memory";
  EXPECT_EQ(run.growth.device_first, 0);
  EXPECT_GE(run.gpu.taken(), 4) << "at least one a round";
  EXPECT_EQ(run.gpu.samples().front().sm_mhz, 1500);
  EXPECT_EQ(sweep.context["gpu"]["name"], "Fake GPU");
  // A worker is only asked for features that it offers.
  const bench::Run& plain = sweep.runs[1];
  ASSERT_TRUE(plain.measured()) << plain.failure.value_or("");
  EXPECT_TRUE(plain.phases.device_ms.empty());
  EXPECT_EQ(plain.pipelined.runs, 0);
  EXPECT_THAT(plain.notes, Contains("there is no pipelined throughput: its runs do not overlap"));
}

/// On the CPU as well: what a search took would be part of the peak of memory.
TEST(Sweep, MeasuresAWorkerThatFoundItsChoicesInTheCache) {
  for (const SweepOptions& options : {gpu_options({"tuning"}), quick_options({"tuning"})}) {
    const TemporaryCache cache;
    const Sweep sweep = sweep_of(options, {"tuning"});
    EXPECT_THAT(sweep.runs[0].notes, Contains("choices from the cache")) << options.measure.setup.device;
    EXPECT_EQ(sweep.runs[0].load_ms, 9000) << "of the cold load";
  }
}

constexpr const char* kCandidatesStay =
    "its memory includes what candidates took: loaded again, it found no choices in the cache and timed them "
    "once more";

TEST(Sweep, SaysThatCandidatesStayInMemoryWhereTheCacheKeepsNothing) {
  const TemporaryCache cache;
  const Sweep again = sweep_of(gpu_options({"forgetful"}), {"forgetful"});
  EXPECT_TRUE(again.runs[0].measured()) << again.runs[0].failure.value_or("");
  EXPECT_THAT(again.runs[0].notes, Contains(kCandidatesStay));
  const Sweep once = sweep_of(gpu_options({"tuning"}), {"tuning"});
  EXPECT_THAT(once.runs[0].notes, Not(Contains(kCandidatesStay)));
}

TEST(Sweep, JudgesTheGpu) {
  const TemporaryCache cache;
  const system::FakeGpu fake("reasons=0x40");
  const Sweep sweep = sweep_of(gpu_options({"gpu"}), {"gpu"});
  EXPECT_THAT(sweep.runs[0].verdict.reasons, Contains("the GPU was slowed down: HW thermal slowdown"));
}

/// Device times and overlapping runs are figures of the run as well.
TEST(Sweep, SeesWhoComesToTheGpuAfterTheLatencies) {
  const TemporaryCache cache;
  const system::FakeGpu alone("processes=77");
  SweepEvents events;
  events.on_progress = [](const base::Progress& progress) {
    if (progress.doing.find("parts of a run") != std::string::npos)
      ::setenv("FAKE_NVML", "processes=77:5000000,78", 1);
  };
  const Sweep sweep = sweep_of(gpu_options({"gpu"}), {"gpu"}, events);
  EXPECT_THAT(sweep.runs[0].verdict.reasons,
              Contains("1 other processes had contexts on the GPU during the run"));
}

TEST(Sweep, GoesOnWithoutNvml) {
  const TemporaryCache cache;
  const SweepOptions options = gpu_options({"gpu"});
  ::setenv("HONE_NVML", "/no/such/library.so", 1);
  const Sweep sweep = sweep_of(options, {"gpu"});
  EXPECT_TRUE(sweep.runs[0].measured());
  EXPECT_THAT(sweep.runs[0].gpu.unknown, HasSubstr("/no/such/library.so"));
  EXPECT_FALSE(sweep.context.contains("gpu"));
}

TEST(Sweep, MeasuresAColdCacheOnlyWhereItCanBeEmptied) {
  const TemporaryCache cache;
  SweepOptions options = gpu_options({"gpu", "good"});
  options.measure.setup.streams = 1;
  options.measure.setup.cold_l2 = true;
  const Sweep sweep = sweep_of(options, {"gpu", "good"});
  EXPECT_TRUE(sweep.runs[0].measured());
  EXPECT_TRUE(sweep.runs[0].setup.cold_l2);
  EXPECT_EQ(sweep.runs[0].pipelined.runs, 0) << "runs that overlap keep the cache warm";
  EXPECT_FALSE(sweep.runs[0].phases.device_ms.empty());
  EXPECT_EQ(*sweep.runs[1].failure, "the backend good cannot empty the GPU's caches before a run");
}

/// y = Relu(w).
importer::Model make_model_without_inputs(const std::string& name) {
  importer::Model model = make_model(name);
  const auto graph = std::make_shared<graph::Graph>(*model.graph);
  const graph::ValueId weight = graph->add_constant("w", tensor::Tensor::of<float>({1}, {1}));
  graph->replace_uses(graph->inputs[0], weight);
  graph->inputs.clear();
  model.graph = graph;
  return model;
}

TEST(Sweep, RefusesShapesOfInputsThatNoModelHas) {
  SweepOptions options = quick_options({"hone"});
  options.load_model = [](const std::string& spec) {
    return spec == "without" ? make_model_without_inputs(spec) : make_model(spec);
  };
  options.shapes = {{"z", {1}}};
  const auto complaint = [&](const std::vector<std::string>& models) {
    options.models = models;
    try {
      sweep_of(options, {});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return std::string(error.what());
    }
    return std::string("no complaint");
  };
  EXPECT_EQ(complaint({"tiny"}), "--shapes names an input 'z', the first input of tiny is 'x'");
  EXPECT_EQ(complaint({"without"}), "--shapes names an input 'z', without has no inputs");
  EXPECT_EQ(complaint({"without", "tiny"}), "--shapes names an input 'z', the first input of tiny is 'x'");
}

TEST(Sweep, RefusesUnknownBackendsBeforeMeasuring) {
  EXPECT_THROW(run_sweep(quick_options({"no-such"}), make_peers(), {}, nullptr), Error);
}

}  // namespace
}  // namespace hone::bench
