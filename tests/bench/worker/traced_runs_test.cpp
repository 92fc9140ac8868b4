// The answer to 'trace': what goes through the protocol arrives, what may be missing may, what cannot be does
// not.
#include "bench/worker/traced_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/ranges.hpp"
#include "bench/worker/worker_client.hpp"
#include "system/scratch.hpp"

namespace hone::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Announces a step in each run and tells of one operator call and one allocation.
class ToldExecutable final : public backend::Executable {
 public:
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor>) override {
    const base::Range range("step");
    return {};
  }

  std::unique_ptr<backend::Observer> observe(const backend::ObserveOptions& options) override {
    class Observer final : public backend::Observer {
     public:
      explicit Observer(const backend::ObserveOptions& options) : options_(options) {}
      backend::Observed finish() override {
        backend::Observed observed;
        observed.texts = {"aten::relu", "[[1,2]]", "[\"float\"]"};
        observed.calls = {{.name = 0, .thread = 7, .start_ns = 1, .end_ns = 2, .sequence = 5}};
        if (options_.shapes) {
          observed.calls[0].shapes = 1;
          observed.calls[0].types = 2;
        }
        if (options_.memory) observed.memory = {{1, 7, 0, 4096, -64, 128, 256}};
        return observed;
      }

     private:
      backend::ObserveOptions options_;
    };
    return std::make_unique<Observer>(options);
  }

  std::vector<backend::StepInfo> steps() const override {
    std::vector<backend::StepInfo> steps(3);
    steps[2].name = "step";
    steps[2].predecessors = {0, 1};
    steps[2].rivals = {{"direct", "blocked8", 12.5, true, ""}, {"winograd", "plain", 0, false, "no 3x3"}};
    return steps;
  }
};

TracedRuns traced(const backend::ObserveOptions& observe) {
  ToldExecutable executable;
  return trace_runs(executable, std::vector<std::vector<tensor::Tensor>>(1), 2, true, {observe});
}

/// As it would arrive.
TracedRuns sent(const TracedRuns& runs) { return parse_traced_runs(Json::parse(to_json(runs).dump())); }

TEST(TracedRuns, KeepWhatAnObserverTells) {
  const TracedRuns runs = sent(traced({.shapes = true, .memory = true}));
  ASSERT_EQ(runs.runs.size(), 2U);
  EXPECT_THAT(runs.names, ElementsAre("step", "aten::relu", "[[1,2]]", "[\"float\"]"));
  EXPECT_EQ(runs.ranges.size(), 2U);
  ASSERT_EQ(runs.operators.size(), 1U);
  const TracedRuns::Operator& call = runs.operators[0];
  EXPECT_THAT((std::vector<int64_t>{call.name, call.thread, call.start_ns, call.end_ns, call.sequence,
                                    call.shapes, call.types}),
              ElementsAre(1, 7, 1, 2, 5, 2, 3));
  ASSERT_EQ(runs.allocations.size(), 1U);
  const TracedRuns::Allocation& row = runs.allocations[0];
  EXPECT_THAT((std::vector<int64_t>{row.time_ns, row.thread, row.device, row.address, row.bytes,
                                    row.total_allocated, row.total_reserved}),
              ElementsAre(1, 7, 0, 4096, -64, 128, 256));
}

TEST(TracedRuns, KeepHowStepsHangTogetherAndTheirRivals) {
  const TracedRuns runs = sent(traced({}));
  ASSERT_EQ(runs.steps.size(), 3U);
  const backend::StepInfo& step = runs.steps[2];
  EXPECT_EQ(step.name, "step");
  EXPECT_THAT(step.predecessors, ElementsAre(0, 1));
  ASSERT_EQ(step.rivals.size(), 2U);
  EXPECT_EQ(step.rivals[0].tactic, "direct");
  EXPECT_EQ(step.rivals[0].layout, "blocked8");
  EXPECT_EQ(step.rivals[0].time_us, 12.5);
  EXPECT_TRUE(step.rivals[0].chosen);
  EXPECT_EQ(step.rivals[1].refusal, "no 3x3");
  EXPECT_FALSE(step.rivals[1].chosen);
}

TEST(TracedRuns, LeaveOutWhatWasNotAskedFor) {
  const TracedRuns runs = sent(traced({}));
  ASSERT_EQ(runs.operators.size(), 1U);
  EXPECT_EQ(runs.operators[0].shapes, -1);
  EXPECT_EQ(runs.operators[0].types, -1);
  EXPECT_TRUE(runs.allocations.empty());
}

/// Works for so long in one range.
class Busy final : public backend::Executable {
 public:
  explicit Busy(int64_t ns) : ns_(ns) {}
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor>) override {
    const base::Range range("step");
    const int64_t end = base::monotonic_ns() + ns_;
    while (base::monotonic_ns() < end) continue;
    return {};
  }

 private:
  int64_t ns_;
};

TracedRuns counted(Busy& executable, int64_t runs) {
  return sent(trace_runs(executable, std::vector<std::vector<tensor::Tensor>>(1), runs, true,
                         {.observe = {}, .thread_counters = true}));
}

TEST(TracedRuns, CountWhatThreadsUseInEveryRange) {
  Busy executable(20'000'000);
  const TracedRuns runs = counted(executable, 2);
  ASSERT_FALSE(runs.counters.empty());
  EXPECT_EQ(runs.counters[0], "CPU time");
  ASSERT_GE(runs.usages.size(), 2U);
  for (const size_t range : {0U, 1U}) {
    const auto usage = std::find_if(
        runs.usages.begin(), runs.usages.end(),
        [&](const TracedRuns::Usage& row) { return row.range == range && row.thread == runs.thread; });
    ASSERT_NE(usage, runs.usages.end());
    EXPECT_GT(usage->values.at(0), 100'000);  // how much of the 20 ms it got is the machine's business
  }
}

TEST(TracedRuns, CountNoMoreThanTheTimeOfShortRanges) {
  std::atomic<bool> done = false;
  std::thread spinning([&] {
    while (!done) continue;
  });
  Busy executable(1000);
  // A thread that got no time in a range has no usage; how often that is so is the machine's business.
  constexpr size_t kUsages = 50;
  size_t seen = 0;
  for (int round = 0; seen < kUsages && round < 100; ++round) {
    const TracedRuns runs = counted(executable, 100);
    seen += runs.usages.size();
    for (const TracedRuns::Usage& usage : runs.usages) {
      const TracedRuns::Range& range = runs.ranges.at(usage.range);
      EXPECT_LE(usage.values.at(0), range.end_ns - range.start_ns);
    }
  }
  done = true;
  spinning.join();
  EXPECT_GE(seen, kUsages);
}

TEST(TracedRuns, MayLackOperatorsAndAllocations) {
  Json json = to_json(traced({.shapes = true, .memory = true}));
  json.erase("operators");
  json.erase("allocations");
  json.erase("usage");
  json["steps"][2].erase("predecessors");
  json["steps"][2]["rivals"][1] = {{"tactic", "winograd"}};
  json["steps"][1].erase("rivals");
  const TracedRuns runs = parse_traced_runs(json);
  EXPECT_TRUE(runs.steps[2].predecessors.empty());
  EXPECT_EQ(runs.steps[2].rivals[1].time_us, 0);
  EXPECT_EQ(runs.runs.size(), 2U);
  EXPECT_EQ(runs.ranges.size(), 2U);
  EXPECT_TRUE(runs.operators.empty());
  EXPECT_TRUE(runs.allocations.empty());
}

struct Damage {
  const char* field;
  Json value;
  const char* sentence;
};

TEST(TracedRuns, RefuseWhatCannotBe) {
  const Json good = to_json(traced({.shapes = true, .memory = true}));
  const std::vector<Damage> damages = {
      {"names", 7, "'names' has the wrong type"},
      {"runs", "all", "'runs' has the wrong type"},
      {"runs", Json::parse("[[1]]"), "'runs' holds a row that is no list of 2 numbers"},
      {"runs", Json::parse("[[5,4]]"), "'runs' holds a run from 5 to 4"},
      {"runs", Json::parse("[[-1,4]]"), "'runs' holds a run from -1 to 4"},
      {"runs", Json::parse("[[1,1e300]]"), "'runs' holds a number that is no integer"},
      {"ranges", Json::parse("[[4,1,2,3]]"), "'ranges' names text 4 of 4"},
      {"ranges", Json::parse("[[-1,1,2,3]]"), "'ranges' names text -1 of 4"},
      {"operators", nullptr, "'operators' has the wrong type"},
      {"operators", Json::parse("[7]"), "'operators' holds a row that is no list of 7 numbers"},
      {"operators", Json::parse("[[1,7,1,2,-1,-1]]"), "'operators' holds a row that is no list of 7 numbers"},
      {"operators", Json::parse("[[\"relu\",7,1,2,-1,-1,-1]]"),
       "'operators' holds a number that is no integer"},
      {"operators", Json::parse("[[-1,7,1,2,-1,-1,-1]]"), "'operators' names text -1 of 4"},
      {"operators", Json::parse("[[1,7,1,2,-1,99,-1]]"), "'operators' names text 99 of 4"},
      {"operators", Json::parse("[[1,7,1,2,-1,-2,-1]]"), "'operators' names text -2 of 4"},
      {"operators", Json::parse("[[1,7,1,2,-1,-1,0]]"), "'operators' names text 0 as a JSON list"},
      {"allocations", Json::parse("{}"), "'allocations' has the wrong type"},
      {"allocations", Json::parse("[[1,7,0,4096,-64,128]]"),
       "'allocations' holds a row that is no list of 7"},
      {"allocations", Json::parse("[[1,7,3000000000,4096,-64,128,-1]]"),
       "'allocations' holds device 3000000000"},
      {"usage", 7, "'counters'"},
      {"usage", Json::parse(R"({"counters":["a"],"missing":"","rows":[[2,1,[5]]]})"),
       "'usage' names range 2 of 2"},
      {"usage", Json::parse(R"({"counters":["a"],"missing":"","rows":[[-1,1,[5]]]})"), "'rows'"},
      {"usage", Json::parse(R"({"counters":["a"],"missing":"","rows":[[0,1,[]]]})"),
       "'usage' has 0 values for 1 counters"},
      {"usage", Json::parse(R"({"counters":["a"],"missing":"","rows":[[0,1]]})"), "'rows'"},
      {"usage", Json::parse(R"({"counters":["a"],"missing":"","rows":[[0,1,"x"]]})"), "'rows'"}};
  for (const Damage& damage : damages) {
    Json json = good;
    json[damage.field] = damage.value;
    try {
      parse_traced_runs(json);
      ADD_FAILURE() << damage.field << ": " << damage.value << " was taken";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(damage.sentence));
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    }
  }
  for (const char* predecessors : {"[2]", "[3]", "[-1]", "[4294967296]", "[1e300]", "[\"a\"]", "0"}) {
    Json json = good;
    json["steps"][2]["predecessors"] = Json::parse(predecessors);
    EXPECT_THROW(parse_traced_runs(json), Error) << predecessors;
  }
  for (const char* rival : {"7", "{}", R"({"tactic":7})", R"({"tactic":"a","time_us":-1})"}) {
    Json json = good;
    json["steps"][2]["rivals"][0] = Json::parse(rival);
    EXPECT_THROW(parse_traced_runs(json), Error) << rival;
  }
  for (const char* field : {"process", "thread", "runs", "names", "ranges", "steps"}) {
    Json json = good;
    json.erase(field);
    EXPECT_THROW(parse_traced_runs(json), Error) << field;
  }
}

TEST(TracedRuns, AreAsManyAsWereAskedFor) {
  const system::Scratch scratch;
  Json answer = to_json(traced({}));
  answer["id"] = 1;
  answer["type"] = "trace";
  WorkerClient worker({"/bin/sh", "-c", "read line; echo '" + answer.dump() + "'"},
                      scratch.folder() / "stderr.txt", 60, nullptr);
  try {
    worker.trace(3, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the worker's answer to 'trace': the field 'runs' holds 2 runs, not 3");
  }
}

}  // namespace
}  // namespace hone::bench
