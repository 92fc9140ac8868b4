// Reasons of many runs in few lines.
#include "report/terminal/verdict_notes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::report {
namespace {

bench::RunRecord invalid(int64_t batch, std::vector<std::string> reasons) {
  bench::RunRecord run;
  run.setup.model = "net";
  run.setup.backend = "hone";
  run.setup.batch = batch;
  run.samples = {{1.0}};
  run.verdict = {false, std::move(reasons)};
  return run;
}

TEST(VerdictNotes, MergesReasonsThatDifferInTheirNumbers) {
  const std::vector<bench::RunRecord> runs = {
      invalid(1, {"other processes used 64 % of the CPU during the run (limit 5 %)"}),
      invalid(8, {"other processes used 71 % of the CPU during the run (limit 5 %)",
                  "drift: the second half is 3.5 % slower than the first"}),
      invalid(16, {"other processes used 9 % of the CPU during the run (limit 5 %)"})};
  EXPECT_THAT(
      verdict_notes(runs),
      testing::ElementsAre(
          "INVALID, all 3 runs: other processes used 9 to 71 % of the CPU during the run (limit 5 %); "
          "close them, or trust the speedups, whose runs took turns, more than the times",
          "INVALID, net hone fp32 batch 8: drift: the second half is 3.5 % slower than the first; a "
          "longer --warmup and --duration even it out"));
}

TEST(VerdictNotes, CountsRunsThatWereMeasured) {
  bench::RunRecord failed = invalid(1, {"failed: it is not there"});
  failed.failure = "it is not there";
  bench::RunRecord valid = invalid(2, {});
  valid.verdict.valid = true;
  const std::vector<bench::RunRecord> runs = {failed, valid, invalid(4, {"odd p99 reason"}),
                                              invalid(8, {"odd p99 reason"}),
                                              invalid(16, {"odd p99 reason"})};
  EXPECT_THAT(verdict_notes(runs), testing::ElementsAre("INVALID, 3 of 4 runs: odd p99 reason"));
  EXPECT_TRUE(verdict_notes({}).empty());
  const std::vector<bench::RunRecord> two = {invalid(4, {"odd p99 reason"}), invalid(8, {"odd p99 reason"})};
  EXPECT_THAT(verdict_notes(two), testing::ElementsAre("INVALID, both runs: odd p99 reason"));
}

}  // namespace
}  // namespace hone::report
