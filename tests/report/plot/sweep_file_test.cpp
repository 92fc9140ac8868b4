// Reading result files: their values, and one sentence for an impossible one.
#include "report/plot/sweep_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "report/plot/sweep_json.hpp"

namespace hone::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(SweepFile, RealResultsAreReadAsTheyStand) {
  size_t files = 0;
  size_t failed = 0;
  size_t invalid = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::string(HONE_SOURCE_DIR) + "/tests/bench/data")) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    const Json json = Json::parse(base::read_file(entry.path()));
    const std::vector<SweepRun> runs = read_sweep_file(entry.path());
    ASSERT_THAT(runs, SizeIs(json["runs"].size()));
    for (size_t i = 0; i < runs.size(); ++i) {
      const Json& expected = json["runs"][i];
      EXPECT_EQ(runs[i].setup.batch, expected["batch"].get<int>());
      EXPECT_EQ(runs[i].verdict.valid, expected["verdict"]["valid"].get<bool>());
      EXPECT_THAT(runs[i].doubts, SizeIs(0)) << entry.path();
      ASSERT_EQ(runs[i].latency.p50.has_value(), expected["failure"].is_null()) << entry.path();
      failed += runs[i].failure.has_value();
      invalid += !runs[i].verdict.valid;
      if (!runs[i].latency.p50) continue;
      EXPECT_EQ(runs[i].latency.p50, expected["latency_ms"]["p50"].get<double>());
      EXPECT_LE(runs[i].spread.p25.value(), runs[i].latency.p50.value());
      if (!runs[i].spread.top.empty()) {
        EXPECT_EQ(runs[i].spread.top_value.value(), expected["latency_ms"][runs[i].spread.top].get<double>());
      }
      EXPECT_EQ(runs[i].throughput.value(), expected["throughput_per_s"].get<double>());
      EXPECT_EQ(runs[i].peak_memory.value(), expected["peak_memory_mb"].get<double>());
      ASSERT_EQ(runs[i].speedup.has_value(), !expected["speedup"].is_null());
      if (runs[i].speedup) {
        EXPECT_EQ(runs[i].speedup->ratio, expected["speedup"]["ratio"].get<double>());
      }
    }
  }
  EXPECT_GE(files, 8U);
  EXPECT_GE(failed, 1U);
  EXPECT_GT(invalid, failed);
}

TEST(SweepFile, BarsEndWhereTheSamplesSupportIt) {
  // Wilks: 299 samples for p99, 59 for p95, 29 for p90.
  const auto runs =
      read_json(sweep_json({run_json("hone", "fp32", 1, 9, 299), run_json("hone", "fp32", 2, 9, 298),
                            run_json("hone", "fp32", 4, 9, 58), run_json("hone", "fp32", 8, 9, 28)}));
  EXPECT_EQ(runs[0].spread.top, "p99");
  EXPECT_EQ(runs[0].spread.top_value, 13);
  EXPECT_EQ(runs[1].spread.top, "p95");
  EXPECT_EQ(runs[2].spread.top, "p90");
  EXPECT_EQ(runs[3].spread.top, "");
  EXPECT_EQ(runs[3].spread.p75, 9 - 1 + 2.0 * 20 / 28);  // the 21st of 28
}

TEST(SweepFile, ImpossibleValuesAreDoubtsAndTheRestStays) {
  Json run = run_json("hone", "fp32", 1, 9);
  run["latency_ms"]["p50"] = -3;
  run["peak_memory_mb"] = 0;
  run["throughput_per_s"] = 1e300;
  Json other = run_json("hone", "fp32", 2, 9);
  other["latency_ms"]["p99"] = 2;
  other["samples_ms"] = {{1, -1}};
  other["speedup"] = speedup_json(2, 3, 1);
  const auto runs = read_json(sweep_json({run, other}));
  EXPECT_FALSE(runs[0].latency.p50 || runs[0].peak_memory || runs[0].throughput);
  EXPECT_THAT(runs[0].doubts,
              ElementsAre("latency_ms.p50 -3", "throughput_per_s 1e+300", "peak_memory_mb 0"));
  EXPECT_EQ(runs[1].latency.p50, 9);
  EXPECT_EQ(runs[1].spread.top, "p95");
  EXPECT_FALSE(runs[1].spread.p25);
  EXPECT_FALSE(runs[1].speedup->interval);
  EXPECT_THAT(runs[1].doubts, ElementsAre("latency_ms.p99 2, which is below p50", "samples_ms -1",
                                          "speedup.interval [3.0,1.0]"));
}

struct BadFile {
  const char* name;
  const char* change;  ///< a JSON merge patch of the first run, or of the file when it begins with '!'
  const char* sentence;
};

class BadSweep : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadSweep, IsOneSentenceWithFileAndField) {
  const std::string change = GetParam().change;
  Json file = sweep_json({run_json("hone", "fp32", 1, 9)});
  if (change.starts_with('!')) {
    file.merge_patch(Json::parse(change.substr(1)));
  } else {
    file["runs"][0].merge_patch(Json::parse(change));
  }
  try {
    read_json(file);
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("sweep.json: "));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().sentence));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadSweep,
    ::testing::Values(
        BadFile{"schema", R"(!{"schema": "other"})", "the field schema is not hone.bench"},
        BadFile{"version", R"(!{"version": 2})", "the file has version 2, not 1"},
        BadFile{"context", R"(!{"context": 3})", "the field context is no object"},
        BadFile{"runs", R"(!{"runs": {}})", "the field runs is no list"},
        BadFile{"empty", R"(!{"runs": []})", "there are no runs in it"},
        BadFile{"run", R"(!{"runs": [3]})", "the field runs[0] is no object"},
        BadFile{"model", R"({"model": null})", "the field runs[0].model is missing"},
        BadFile{"batch", R"({"batch": 0})", "the field runs[0].batch is 0"},
        BadFile{"large", R"({"batch": 18446744073709551615})", "the field runs[0].batch is out of range"},
        BadFile{"text", R"({"latency_ms": {"p50": "9"}})", "the field runs[0].latency_ms.p50 is no number"},
        BadFile{"flag", R"({"verdict": {"valid": 1}})",
                "the field runs[0].verdict.valid is neither true nor false"},
        BadFile{"samples", R"({"samples_ms": [3]})", "the field runs[0].samples_ms[0] is no list"},
        BadFile{"sample", R"({"samples_ms": [["a"]]})", "the field runs[0].samples_ms[0][0] is no number"},
        BadFile{"interval", R"({"speedup": {"ratio": 1, "over": {"backend": "a", "precision": "b"},
                                "interval": [1]}})",
                "the field runs[0].speedup.interval is no list of 2"},
        BadFile{"over", R"({"speedup": {"ratio": 1}})", "the field runs[0].speedup.over is missing"}),
    [](const auto& test) { return test.param.name; });

TEST(SweepFile, TextThatIsNoJsonIsSaidToBeNone) {
  const base::TemporaryFolder folder;
  const auto path = folder.write("half.json", R"({"schema": "hone.bench", "runs": [)");
  EXPECT_THROW(
      {
        try {
          read_sweep_file(path);
        } catch (const Error& error) {
          EXPECT_EQ(error.what(), path.string() + ": this is no JSON file");
          throw;
        }
      },
      Error);
}

}  // namespace
}  // namespace hone::report
