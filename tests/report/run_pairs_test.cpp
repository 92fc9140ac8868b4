// Every two runs of a sweep beside each other.
#include "report/run_pairs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::report {
namespace {

/// Ten rounds of three runs that take about `ms`, each backend with a noise of its own.
Json run_of(const std::string& backend, int batch, double ms, const char* over) {
  Json rounds = Json::array();
  for (int round = 0; round < 10; ++round) {
    const double noise = 0.01 * (round * static_cast<int>(backend.size()) % 5);
    rounds.push_back({ms * (1 + noise), ms * (1.001 + noise), ms * (1.002 + noise)});
  }
  Json run = {{"model", "m"}, {"backend", backend}, {"precision", "fp32"},  {"batch", batch},
              {"threads", 2}, {"failure", nullptr}, {"samples_ms", rounds}, {"speedup", nullptr}};
  if (over != nullptr)
    run["speedup"] = {{"over", {{"backend", over}, {"precision", "fp32"}}}, {"interleaved", true}};
  return run;
}

Json sweep_of(std::vector<Json> runs) {
  return {{"schema", "hone.bench"},
          {"version", 1},
          {"complete", true},
          {"context", Json::object()},
          {"runs", std::move(runs)}};
}

TEST(RunPairs, AreEveryTwoRunsOfOneBatch) {
  const auto pairs =
      compare_pairs(sweep_of({run_of("torch", 1, 4, nullptr), run_of("hone", 1, 2, "torch"),
                              run_of("onnxruntime", 1, 3, "torch"), run_of("hone", 8, 9, nullptr)}));
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[2].run.text(), "m onnxruntime fp32 batch 1");
  EXPECT_EQ(pairs[2].speedup.over.backend, "hone");
  const double ratio = pairs[2].speedup.ratio.value();
  EXPECT_NEAR(ratio, 2.0 / 3, 0.02);
  const auto [low, high] = pairs[2].speedup.interval.value();
  EXPECT_LT(low, ratio);
  EXPECT_GT(high, ratio);
  for (const RunPair& pair : pairs) EXPECT_TRUE(pair.speedup.interleaved) << pair.run.text();
}

TEST(RunPairs, OfManySamplesHaveTheRatioOfAll) {
  Json slow = run_of("torch", 1, 4, nullptr);
  Json fast = run_of("hone", 1, 2, "torch");
  for (int i = 0; i < 30'000; ++i) {
    const auto round = static_cast<size_t>(i % 10);
    slow["samples_ms"][round].push_back(3 + 0.0001 * i);
    fast["samples_ms"][round].push_back(1 + 0.0001 * i);
  }
  const bench::SpeedupFigure speedup = compare_pairs(sweep_of({slow, fast})).at(0).speedup;
  const double ratio = speedup.ratio.value();
  const auto [low, high] = speedup.interval.value();
  EXPECT_NEAR(ratio, 4.5 / 2.5, 0.001);
  EXPECT_LT(low, ratio);
  EXPECT_GT(high, ratio);
}

TEST(RunPairs, AreBounded) {
  std::vector<Json> runs;
  for (int i = 0; i < 60; ++i) runs.push_back(run_of("backend" + std::to_string(i), 1, 1 + i, nullptr));
  EXPECT_EQ(compare_pairs(sweep_of(runs)).size(), 500U);
}

TEST(RunPairs, OfRunsThatTookNoTurnsSaySo) {
  const auto pairs = compare_pairs(sweep_of({run_of("torch", 1, 4, nullptr), run_of("hone", 1, 2, nullptr)}));
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_FALSE(pairs[0].speedup.interleaved);
}

TEST(RunPairs, TookTurnsWhereTheirSessionsAreOne) {
  Json torch = run_of("torch", 1, 4, nullptr);
  Json hone = run_of("hone", 1, 2, nullptr);
  Json late = run_of("onnxruntime", 1, 3, "torch");
  torch["session"] = hone["session"] = 1;
  late["session"] = 2;
  const auto pairs = compare_pairs(sweep_of({torch, hone, late}));
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_TRUE(pairs[0].speedup.interleaved) << "though no speedup says so";
  EXPECT_FALSE(pairs[1].speedup.interleaved) << "whatever its speedup says";
  EXPECT_FALSE(pairs[2].speedup.interleaved);
}

TEST(RunPairs, LeaveOutWhatFailedAndWhatWasMeasuredOtherwise) {
  Json failed = run_of("torch", 1, 4, nullptr);
  failed["failure"] = "it crashed";
  failed["samples_ms"] = Json::array();
  Json cold = run_of("onnxruntime", 1, 3, nullptr);
  cold["cold_l2"] = true;
  EXPECT_TRUE(compare_pairs(sweep_of({failed, run_of("hone", 1, 2, nullptr), cold})).empty());
}

TEST(RunPairs, OfAFileThatIsNotAsDescribedAreNone) {
  Json broken = run_of("torch", 1, 4, nullptr);
  broken.erase("samples_ms");
  EXPECT_TRUE(compare_pairs(sweep_of({broken, run_of("hone", 1, 2, nullptr)})).empty());
  EXPECT_TRUE(compare_pairs(Json::array()).empty());
  Json odd = run_of("hone", 1, 2, nullptr);
  odd["speedup"] = {{"over", 7}, {"interleaved", true}};
  EXPECT_TRUE(compare_pairs(sweep_of({run_of("torch", 1, 4, nullptr), odd})).empty());
  Json impossible = run_of("hone", 1, 2, nullptr);
  impossible["samples_ms"][0][0] = 0;
  EXPECT_TRUE(compare_pairs(sweep_of({run_of("torch", 1, 4, nullptr), impossible})).empty());
}

}  // namespace
}  // namespace hone::report
