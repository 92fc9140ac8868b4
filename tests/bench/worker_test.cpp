// The protocol from both sides: the client with workers that misbehave, the server with requests that do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/error.hpp"
#include "bench/fixture.hpp"
#include "bench/worker/worker_client.hpp"
#include "bench/worker/worker_server.hpp"
#include "system/scratch.hpp"

namespace hone::bench {
namespace {

using ::testing::HasSubstr;

Command shell(const std::string& text) { return {"/bin/sh", "-c", "exec " + text}; }

/// The sentence with which a fake worker of this mode fails at its first sample.
std::string failure_of(const std::string& mode) {
  const system::Scratch scratch;
  WorkerClient worker(shell(fake_worker(mode)), scratch.folder() / "stderr.txt", 60, nullptr);
  worker.hello("fake");
  worker.load({});
  try {
    worker.run(WorkerClient::Purpose::kSample, 10, 0.01);
  } catch (const Error& error) {
    return error.what();
  }
  return "no failure";
}

TEST(WorkerClient, MeasuresAGoodWorker) {
  const system::Scratch scratch;
  WorkerClient worker(shell(fake_worker("good 2")), scratch.folder() / "stderr.txt", 60, nullptr);
  EXPECT_EQ(worker.hello("fake").version, "1.2");
  EXPECT_EQ(worker.load({}).notes, std::vector<std::string>{"loaded fp32"});
  const Block block = worker.run(WorkerClient::Purpose::kSample, 3, 10);
  EXPECT_EQ(block.latencies_ms.size(), 3u);
  EXPECT_GE(block.latencies_ms.front(), 2);
  EXPECT_GE(block.wall_ms, 6);
  EXPECT_EQ(worker.run(WorkerClient::Purpose::kWarmup, 100, 0).latencies_ms.size(), 1u);
  EXPECT_EQ(worker.memory().activations, 2'000'000);
  worker.quit();
}

TEST(WorkerClient, SkipsWhatLibrariesPrint) { EXPECT_EQ(failure_of("noisy"), "no failure"); }

TEST(WorkerClient, HearsHowFarLoadingIs) {
  const system::Scratch scratch;
  WorkerClient worker(
      {"/bin/sh", "-c",
       R"(read line; echo '{"id":1,"type":"progress","done_seconds":2,"left_seconds":null,"doing":"timing"}'
          echo '{"id":7,"type":"progress","done_seconds":9,"left_seconds":1,"doing":"of another request"}'
          echo '{"id":1,"type":"progress","done_seconds":3,"left_seconds":4,"doing":"timing more"}'
          echo '{"id":1,"type":"load","notes":[],"load_ms":5}'; read line)"},
      scratch.folder() / "stderr.txt", 60, nullptr);
  std::vector<std::string> heard;
  worker.load({}, [&](const base::Progress& progress) {
    heard.push_back(fmt::format("{} {} {}", progress.done_seconds, progress.left_seconds, progress.doing));
  });
  EXPECT_THAT(heard, testing::ElementsAre("2 inf timing", "3 4 timing more"));
}

TEST(WorkerClient, NamesTheSignalOfACrashAndTheLastMessage) {
  EXPECT_THAT(failure_of("crash"), HasSubstr("crashed with signal 11 (Segmentation fault) during 'sample'"));
  EXPECT_THAT(failure_of("crash"), HasSubstr("about to crash"));
}

TEST(WorkerClient, ReadsTheAnswerOfAWorkerThatHasEndedAlready) {
  const system::Scratch scratch;
  WorkerClient worker(
      {"/bin/sh", "-c",
       R"(echo '{"id":1,"type":"error","kind":"environment","message":"node is missing"}'; exit 4)"},
      scratch.folder() / "stderr.txt", 60, nullptr);
  // Ended but not waited for: state Z, after the name in brackets.
  std::string state;
  while (state.find(") Z ") == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::getline(std::ifstream("/proc/" + std::to_string(worker.pid()) + "/stat"), state);
  }
  try {
    worker.hello("fake");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "node is missing");
  }
}

TEST(WorkerClient, SuspectsMemoryWhenItWasKilled) {
  EXPECT_THAT(failure_of("killed"), HasSubstr("memory ran out"));
}

TEST(WorkerClient, GivesTheExitCodeAndTheLastMessage) {
  EXPECT_THAT(failure_of("exit"), HasSubstr("exited with code 7 during 'sample': cannot find libfoo.so"));
}

TEST(WorkerClient, EndsAWorkerThatHangs) {
  const system::Scratch scratch;
  WorkerClient worker(shell(fake_worker("mute")), scratch.folder() / "stderr.txt", 0.5, nullptr);
  const auto start = base::Clock::now();
  try {
    worker.hello("fake");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no answer to 'hello' within 0.5 s"));
  }
  EXPECT_GE(base::seconds_since(start), 0.5);
}

TEST(WorkerClient, GivesUpOnGarbage) {
  EXPECT_THAT(failure_of("garbage"), HasSubstr("lines that are no answer"));
}

TEST(WorkerClient, PassesOnTheWorkersOwnSentence) { EXPECT_EQ(failure_of("memory"), "out of memory"); }

TEST(WorkerClient, RefusesAnswersOfTheWrongForm) {
  EXPECT_EQ(failure_of("nonsense"), "the worker's answer to 'sample': the field latencies_ms is no list");
  EXPECT_THAT(failure_of("zero"), HasSubstr("the field latencies_ms holds 0"));
  EXPECT_THAT(failure_of("other"), HasSubstr("to request"));
  EXPECT_THAT(failure_of("named"), HasSubstr("to request"));
  EXPECT_EQ(failure_of("unkind"), "no idea");
}

TEST(WorkerClient, SaysWhoseAnswerLacksAField) {
  const system::Scratch scratch;
  WorkerClient worker(shell(fake_worker("nameless")), scratch.folder() / "stderr.txt", 60, nullptr);
  try {
    worker.hello("fake");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the worker's answer to 'hello': the field 'version' is missing");
  }
}

TEST(WorkerClient, RefusesAnotherProtocol) {
  const system::Scratch scratch;
  WorkerClient worker(shell(fake_worker("old")), scratch.folder() / "stderr.txt", 60, nullptr);
  EXPECT_THROW(worker.hello("fake"), Error);
}

TEST(WorkerClient, SaysThatAProgramIsMissing) {
  const system::Scratch scratch;
  try {
    WorkerClient worker({"/no/such/worker"}, scratch.folder() / "stderr.txt", 60, nullptr);
    worker.hello("fake");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/no/such/worker"));
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
  }
}

TEST(WorkerClient, StopsWaitingWhenInterrupted) {
  const system::Scratch scratch;
  system::StopFlag stop = false;
  WorkerClient worker(shell(fake_worker("hang")), scratch.folder() / "stderr.txt", 100, &stop);
  worker.hello("fake");
  stop = true;
  EXPECT_THROW(worker.run(WorkerClient::Purpose::kSample, 1, 1), system::Interrupted);
}

/// The server's answers to the lines.
std::vector<Json> answers_to(const std::vector<std::string>& lines) {
  std::vector<Json> answers;
  size_t next = 0;
  WorkerServer server([](const std::string& spec) { return make_model(spec); });
  server.serve(
      [&](std::string* line) {
        if (next == lines.size()) return false;
        *line = lines[next++];
        return true;
      },
      [&](const std::string& line) { answers.push_back(Json::parse(line)); });
  return answers;
}

TEST(WorkerServer, AnswersBadRequestsWithErrors) {
  for (const char* line : {"", "nonsense", "[]", "{}", R"({"id":1})", R"({"id":1,"type":"fly"})",
                           R"({"id":1,"type":"sample"})", R"({"id":1,"type":"load"})", R"({"id":1,"type":7})",
                           R"({"id":1,"type":"hello","backend":"no such"})"}) {
    const auto answers = answers_to({line});
    ASSERT_EQ(answers.size(), 1u) << line;
    EXPECT_EQ(answers[0]["type"], "error") << line;
    EXPECT_FALSE(answers[0]["message"].get<std::string>().empty()) << line;
  }
}

TEST(WorkerServer, EndsAtQuit) {
  EXPECT_TRUE(answers_to({R"({"id":1,"type":"quit"})", R"({"id":2,"type":"memory"})"}).empty());
}

TEST(WorkerServer, RunsTheReferenceBackend) {
  const system::Scratch scratch;
  const ModelInfo model = describe_model(make_model("tiny"), "tiny", {});
  const InputPool inputs(model, 2, scratch.folder());
  LoadRequest load;
  load.setup.backend = "reference";
  load.setup.model = "tiny";
  load.inputs = inputs.at_batch(2, 2);
  Json load_line = to_json(load);
  load_line["id"] = 2;
  load_line["type"] = "load";
  const Json accuracy = {
      {"id", 4}, {"type", "accuracy"}, {"sets", {0, 1}}, {"folder", scratch.folder().string()}};
  const auto answers = answers_to({R"({"id":1,"type":"hello","protocol":1,"backend":"reference"})",
                                   load_line.dump(), R"({"id":3,"type":"sample","runs":5,"seconds":10})",
                                   accuracy.dump(), R"({"id":5,"type":"memory"})"});
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_EQ(answers[0]["backend"], "reference");
  EXPECT_EQ(answers[1]["type"], "load") << answers[1];
  EXPECT_EQ(answers[1]["version"], answers[0]["version"]);
  EXPECT_EQ(parse_block(answers[2]).latencies_ms.size(), 5u);
  const tensor::Tensor output = read_output(parse_output_file(answers[3]["outputs"][1][0]));
  EXPECT_EQ(output.shape(), (tensor::Shape{2, 6}));
  for (const float value : output.values<float>()) EXPECT_GE(value, 0);
  EXPECT_EQ(answers[4]["id"], 5);
}

/// Counts what it is asked for.
struct Calls {
  int uploads = 0;
  int submitted = 0;
  int finished = 0;
  int streams = 0;
  bool cold = true;
};

class FakePipeline final : public backend::Pipeline {
 public:
  explicit FakePipeline(Calls& calls) : calls_(calls) {}
  void submit() override { ++calls_.submitted; }
  void finish() override { ++calls_.finished; }

 private:
  Calls& calls_;
};

/// An executable as one on a GPU: in three parts, with phases and a pipeline.
class FakeExecutable final : public backend::Executable {
 public:
  explicit FakeExecutable(Calls& calls) : calls_(calls) {}
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) override {
    return {inputs.begin(), inputs.end()};
  }
  void upload(std::span<const tensor::Tensor>) override { ++calls_.uploads; }
  bool has_phases() const override { return true; }
  backend::RunPhases time_phases(bool cold) override {
    calls_.cold = cold;
    return {1, 2, 3, 4};
  }
  bool has_pipeline() const override { return true; }
  std::unique_ptr<backend::Pipeline> make_pipeline(int streams, bool,
                                                   std::span<const std::vector<tensor::Tensor>>) override {
    calls_.streams = streams;
    return std::make_unique<FakePipeline>(calls_);
  }
  std::string bus_id() const override { return "0000:1b:00.0"; }
  backend::MemoryUse memory() const override { return {1, 2, {3, 4, 5, 6}, 7}; }

 private:
  Calls& calls_;
};

class FakeBackend final : public backend::Backend {
 public:
  explicit FakeBackend(Calls& calls) : calls_(calls) {}
  std::string_view name() const override { return "fake"; }
  std::string version(std::string_view device) const override { return "1 on " + std::string(device); }
  std::unique_ptr<backend::Executable> load(const importer::Model&, const backend::LoadOptions&) override {
    return std::make_unique<FakeExecutable>(calls_);
  }

 private:
  Calls& calls_;
};

TEST(WorkerServer, TimesPhasesAndPipelines) {
  const system::Scratch scratch;
  const ModelInfo model = describe_model(make_model("tiny"), "tiny", {});
  const InputPool inputs(model, 1, scratch.folder());
  LoadRequest load;
  load.setup.model = "tiny";
  load.setup.device = "cuda";
  load.setup.streams = 3;
  load.inputs = inputs.at_batch(1, 2);
  Json load_line = to_json(load);
  load_line["type"] = "load";
  std::vector<std::string> lines = {R"({"id":1,"type":"hello","backend":"fake"})", load_line.dump(),
                                    R"({"id":3,"type":"phases","seconds":0})",
                                    R"({"id":4,"type":"pipeline","seconds":0})",
                                    R"({"id":5,"type":"memory"})"};
  Calls calls;
  std::vector<Json> answers;
  size_t next = 0;
  WorkerServer server([](const std::string& spec) { return make_model(spec); },
                      [&](const std::string&) { return std::make_unique<FakeBackend>(calls); });
  server.serve(
      [&](std::string* line) {
        if (next == lines.size()) return false;
        *line = lines[next++];
        return true;
      },
      [&](const std::string& line) { answers.push_back(Json::parse(line)); });
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_EQ(answers[1]["features"], (Json{"trace", "phases", "pipeline"})) << answers[1];
  EXPECT_EQ(answers[1]["bus_id"], "0000:1b:00.0");
  EXPECT_EQ(answers[1]["version"], "1 on cuda");
  const PhaseBlock phases = parse_phase_block(answers[2]);
  EXPECT_EQ(phases.h2d_ms, std::vector<double>{1});
  EXPECT_EQ(phases.enqueue_ms, std::vector<double>{2});
  EXPECT_EQ(phases.device_ms, std::vector<double>{3});
  EXPECT_EQ(phases.d2h_ms, std::vector<double>{4});
  EXPECT_FALSE(calls.cold);
  EXPECT_EQ(calls.uploads, 1);
  EXPECT_EQ(parse_pipeline_block(answers[3]).runs, 1);
  EXPECT_EQ(calls.streams, 3);
  EXPECT_EQ(calls.submitted, 4) << "each stream once before the clock starts, then one run";
  EXPECT_EQ(calls.finished, 2);
  EXPECT_EQ(parse_memory_use(answers[4]).device.driver, 6);
  EXPECT_EQ(parse_memory_use(answers[4]).engine_file, 7);
}

TEST(WorkerServer, EmptiesNoCacheOfTheCpu) {
  LoadRequest load;
  load.setup.cold_l2 = true;
  Json line = to_json(load);
  line["type"] = "load";
  const auto answers =
      answers_to({R"({"id":1,"type":"hello","protocol":1,"backend":"reference"})", line.dump()});
  EXPECT_EQ(answers[1]["message"], "the caches of the CPU cannot be emptied");
}

TEST(Protocol, RefusesTimesThatAreNone) {
  EXPECT_THROW(parse_phase_block({{"h2d_ms", {-1}}, {"enqueue_ms", {}}, {"device_ms", {}}, {"d2h_ms", {}}}),
               Error);
  EXPECT_THROW(parse_phase_block({{"h2d_ms", "fast"}}), Error);
  EXPECT_THROW(parse_pipeline_block({{"runs", 0}, {"wall_ms", 1}}), Error);
  EXPECT_THROW(parse_pipeline_block({{"runs", 1}, {"wall_ms", 0}}), Error);
  EXPECT_EQ(parse_memory_use({{"weights", 1}, {"activations", 2}}).device.driver, 0)
      << "older workers say less";
}

TEST(WorkerServer, RefusesInputsOutsideTheirFile) {
  const system::Scratch scratch;
  const ModelInfo model = describe_model(make_model("tiny"), "tiny", {});
  const InputPool inputs(model, 1, scratch.folder());
  LoadRequest load;
  load.setup.backend = "reference";
  load.setup.model = "tiny";
  load.inputs = inputs.at_batch(1, 1);
  load.inputs[0].offsets = {uint64_t{1} << 63};
  Json line = to_json(load);
  line["type"] = "load";
  const auto answers =
      answers_to({R"({"id":1,"type":"hello","protocol":1,"backend":"reference"})", line.dump()});
  EXPECT_THAT(answers[1]["message"].get<std::string>(), HasSubstr("lies outside the file"));
}

}  // namespace
}  // namespace hone::bench
