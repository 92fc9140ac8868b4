// Differential test: random networks compute the same before and after all passes, and a second run of
// the passes changes nothing. HONE_RANDOM_SEED=<n> repeats one case alone.
#include <cstdlib>

#include "support/passes.hpp"
#include "transform/random_graph.hpp"

namespace hone::test {
namespace {

constexpr uint32_t kCases = 400;
const std::vector<std::string> kRequested = {"pool_fusion", "bottleneck_fusion", "squeeze_excite_fusion",
                                             "global_pool_fusion", "convolution_sum_fusion"};

void check_seed(uint32_t seed) {
  SCOPED_TRACE(
      fmt::format("repeat with HONE_RANDOM_SEED={} transform_test --gtest_filter=RandomGraphs.*", seed));
  const Graph original = RandomGraph(seed).build();
  Graph optimized = original;
  transform::optimize(optimized, {.requested = kRequested});
  expect_equivalent(original, optimized, seed);
  Graph again = optimized;
  for (const transform::Summary& summary : transform::optimize(again, {.requested = kRequested})) {
    EXPECT_EQ(summary.changes, 0) << summary.name
                                  << " changes the result of a first run: " << summary.notes.front()
                                  << "\noriginal:  " << structure(original)
                                  << "\noptimized: " << structure(optimized);
  }
}

TEST(RandomGraphs, ComputeTheSameAfterAllPasses) {
  if (const char* seed = std::getenv("HONE_RANDOM_SEED")) {
    check_seed(static_cast<uint32_t>(std::strtoul(seed, nullptr, 10)));
    return;
  }
  for (uint32_t seed = 1; seed <= kCases && !testing::Test::HasFailure(); ++seed) check_seed(seed);
}

/// The passes that run on request find work in them.
TEST(RandomGraphs, HoldWhatIsFusedOnRequest) {
  std::map<std::string, int> changes;
  for (uint32_t seed = 1; seed <= kCases; ++seed) {
    Graph graph = RandomGraph(seed).build();
    for (const transform::Summary& summary : transform::optimize(graph, {.requested = kRequested}))
      changes[summary.name] += summary.changes;
  }
  for (const std::string& name : kRequested) EXPECT_GT(changes[name], 0) << name;
}

/// Leaving out one pass, whichever, must not break the others.
TEST(RandomGraphs, ComputeTheSameWithoutAnyOnePass) {
  uint32_t seed = 10000;
  for (const std::string& name : transform::pass_names()) {
    for (int i = 0; i < 10; ++i) {
      SCOPED_TRACE(fmt::format("without {}, seed {}", name, ++seed));
      const Graph original = RandomGraph(seed).build();
      Graph optimized = original;
      transform::optimize(optimized, {.disabled = {name}, .requested = kRequested});
      expect_equivalent(original, optimized, seed);
    }
  }
}

}  // namespace
}  // namespace hone::test
