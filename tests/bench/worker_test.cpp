// The protocol from both sides: the client with workers that misbehave, the server with requests that do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/error.hpp"
#include "bench/fixture.hpp"
#include "bench/scratch.hpp"
#include "bench/worker_client.hpp"
#include "bench/worker_server.hpp"

namespace hone::bench {
namespace {

using ::testing::HasSubstr;

Command shell(const std::string& text) { return {"/bin/sh", "-c", "exec " + text}; }

/// The sentence with which a fake worker of this mode fails at its first sample.
std::string failure_of(const std::string& mode) {
  const Scratch scratch;
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
  const Scratch scratch;
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

TEST(WorkerClient, NamesTheSignalOfACrashAndTheLastMessage) {
  EXPECT_THAT(failure_of("crash"), HasSubstr("crashed with signal 11 (Segmentation fault) during 'sample'"));
  EXPECT_THAT(failure_of("crash"), HasSubstr("about to crash"));
}

TEST(WorkerClient, ReadsTheAnswerOfAWorkerThatHasEndedAlready) {
  const Scratch scratch;
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
  const Scratch scratch;
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
  EXPECT_THAT(failure_of("nonsense"), HasSubstr("the field 'latencies_ms' has the wrong type"));
  EXPECT_THAT(failure_of("zero"), HasSubstr("'latencies_ms' holds 0"));
  EXPECT_THAT(failure_of("other"), HasSubstr("to request"));
  EXPECT_THAT(failure_of("named"), HasSubstr("to request"));
  EXPECT_EQ(failure_of("unkind"), "no idea");
}

TEST(WorkerClient, RefusesAnotherProtocol) {
  const Scratch scratch;
  WorkerClient worker(shell(fake_worker("old")), scratch.folder() / "stderr.txt", 60, nullptr);
  EXPECT_THROW(worker.hello("fake"), Error);
}

TEST(WorkerClient, SaysThatAProgramIsMissing) {
  const Scratch scratch;
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
  const Scratch scratch;
  StopFlag stop = false;
  WorkerClient worker(shell(fake_worker("hang")), scratch.folder() / "stderr.txt", 100, &stop);
  worker.hello("fake");
  stop = true;
  EXPECT_THROW(worker.run(WorkerClient::Purpose::kSample, 1, 1), Interrupted);
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
  const Scratch scratch;
  const ModelInfo model = describe_model(make_model("tiny"), "tiny", {});
  const InputPool inputs(model, 2, scratch.folder());
  LoadRequest load;
  load.backend = "reference";
  load.model = "tiny";
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
  EXPECT_EQ(parse_block(answers[2]).latencies_ms.size(), 5u);
  const tensor::Tensor output = read_output(parse_output_file(answers[3]["outputs"][1][0]));
  EXPECT_EQ(output.shape(), (tensor::Shape{2, 6}));
  for (const float value : output.values<float>()) EXPECT_GE(value, 0);
  EXPECT_EQ(answers[4]["id"], 5);
}

TEST(WorkerServer, RefusesInputsOutsideTheirFile) {
  const Scratch scratch;
  const ModelInfo model = describe_model(make_model("tiny"), "tiny", {});
  const InputPool inputs(model, 1, scratch.folder());
  LoadRequest load;
  load.backend = "reference";
  load.model = "tiny";
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
