// Setups compare alike in the gate, in the pairs of a report and in the groups of figures.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/temporary_folder.hpp"
#include "bench/results/gate.hpp"
#include "report/plot/sweep_groups.hpp"
#include "report/run_pairs.hpp"

namespace hone::report {
namespace {

bench::Sweep sweep_of(std::vector<bench::Setup> setups) {
  bench::Sweep sweep;
  sweep.context = {{"cpu", "a CPU"}};
  for (bench::Setup& setup : setups) {
    bench::Run& run = sweep.runs.emplace_back();
    run.setup = std::move(setup);
    run.rounds = base::Rounds(10, {1, 1.1, 1.2});
  }
  return sweep;
}

bool gate_compares(const bench::Setup& a, const bench::Setup& b) {
  try {
    bench::require_comparable(sweep_of({a}), sweep_of({b}));
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Pairs are of two systems.
bool pairs_compare(const bench::Setup& a, bench::Setup b) {
  b.backend = "other";
  return !compare_pairs(to_json(sweep_of({a, b}))).empty();
}

bool figures_compare(const bench::Setup& a, const bench::Setup& b) {
  const base::TemporaryFolder folder;
  const auto path = folder.write("sweep.json", to_json(sweep_of({a, b})).dump());
  return group_runs(read_sweep_file(path)).size() == 1;
}

struct Change {
  const char* name;
  const char* device;
  void (*apply)(bench::Setup& setup);
  bool comparable;
};

class Comparable : public ::testing::TestWithParam<Change> {};

TEST_P(Comparable, MeansTheSameToAllThatCompare) {
  const bench::Setup a{.model = "net", .backend = "hone", .device = GetParam().device, .threads = 2};
  bench::Setup b = a;
  GetParam().apply(b);
  EXPECT_EQ(bench::comparable(a, b, {}), GetParam().comparable);
  EXPECT_EQ(gate_compares(a, b), GetParam().comparable);
  EXPECT_EQ(pairs_compare(a, b), GetParam().comparable);
  EXPECT_EQ(figures_compare(a, b), GetParam().comparable);
}

INSTANTIATE_TEST_SUITE_P(
    Setups, Comparable,
    ::testing::Values(Change{"equal", "cpu", [](bench::Setup&) {}, true},
                      Change{"transfers_of_the_cpu", "cpu", [](bench::Setup& s) { s.transfers = true; },
                             true},
                      Change{"transfers", "cuda", [](bench::Setup& s) { s.transfers = true; }, false},
                      Change{"cold_l2", "cuda", [](bench::Setup& s) { s.cold_l2 = true; }, false},
                      Change{"busy_threads", "cpu", [](bench::Setup& s) { s.busy = 1; }, false},
                      Change{"streams", "cuda", [](bench::Setup& s) { s.streams = 2; }, true},
                      Change{"device", "cpu", [](bench::Setup& s) { s.device = "cuda"; }, false},
                      Change{"threads", "cpu", [](bench::Setup& s) { s.threads = 1; }, false},
                      Change{"threads_of_the_host", "cuda", [](bench::Setup& s) { s.threads = 1; }, false}),
    [](const auto& test) { return test.param.name; });

TEST(ComparableSetups, DifferOnlyInWhatMayDiffer) {
  const bench::Setup a{.model = "net", .backend = "hone"};
  const bench::Setup b{.model = "net", .backend = "torch", .precision = "bf16"};
  EXPECT_FALSE(bench::comparable(a, b, {}));
  EXPECT_FALSE(bench::comparable(a, b, {.model = true, .batch = true}));
  EXPECT_TRUE(bench::comparable(a, b, {.system = true}));
  const bench::Setup c{.model = "./net", .backend = "hone", .batch = 8};
  EXPECT_FALSE(bench::comparable(a, c, {.batch = true}));
  EXPECT_TRUE(bench::comparable(a, c, {.model = true, .batch = true}));
}

}  // namespace
}  // namespace hone::report
