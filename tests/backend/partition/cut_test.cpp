// The cut against every labelling of small graphs, and its bound against every partition.
#include "backend/partition/cut.hpp"

#include <gtest/gtest.h>

#include "backend/partition/max_flow.hpp"
#include "backend/partition/partition_support.hpp"
#include "backend/partition/search.hpp"

namespace hone::backend::partition {
namespace {

/// The energy that the cut minimises, added up plainly: each value is handed out once to each other backend
/// that reads it.
double energy(const Wiring& wiring, const Costs& costs, const Labels& labels) {
  double sum = 0;
  for (size_t node = 0; node < labels.size(); ++node) sum += costs.node(labels[node], node);
  for (const Flow& flow : wiring.flows) {
    const int from = flow.producer < 0 ? -1 : labels[static_cast<size_t>(flow.producer)];
    std::vector<bool> reads(costs.count(), false);
    for (const int32_t reader : flow.consumers)
      reads[static_cast<size_t>(labels[static_cast<size_t>(reader)])] = true;
    bool handed_out = flow.is_output;
    for (int backend = 0; backend < static_cast<int>(costs.count()); ++backend) {
      if (backend == from || !reads[static_cast<size_t>(backend)]) continue;
      sum += costs.input_us(backend, flow.bytes);
      handed_out = true;
    }
    if (from >= 0 && handed_out) sum += costs.output_us(from, flow.bytes);
  }
  return sum;
}

template <class Visit>
void for_all_labels(size_t nodes, int backends, const Visit& visit) {
  Labels labels(nodes, 0);
  while (true) {
    visit(labels);
    size_t at = 0;
    while (at < nodes && ++labels[at] == backends) labels[at++] = 0;
    if (at == nodes) return;
  }
}

bool possible(const Costs& costs, const Labels& labels) {
  for (size_t node = 0; node < labels.size(); ++node) {
    if (!costs.takes(labels[node], node)) return false;
  }
  return true;
}

TEST(FlowNetwork, FindsTheLargestFlowOfAnOldExample) {
  // Cormen et al., the figure of their chapter on flow: 23.
  FlowNetwork network;
  const int32_t a = network.add_vertex();
  const int32_t b = network.add_vertex();
  const int32_t c = network.add_vertex();
  const int32_t d = network.add_vertex();
  network.add_edge(FlowNetwork::kSource, a, 16);
  network.add_edge(FlowNetwork::kSource, b, 13);
  network.add_edge(a, c, 12);
  network.add_edge(b, a, 4);
  network.add_edge(c, b, 9);
  network.add_edge(b, d, 14);
  network.add_edge(d, c, 7);
  network.add_edge(c, FlowNetwork::kSink, 20);
  network.add_edge(d, FlowNetwork::kSink, 4);
  EXPECT_EQ(network.maximise(), 23);
  EXPECT_TRUE(network.on_source_side(a));
  EXPECT_TRUE(network.on_source_side(b));
  EXPECT_FALSE(network.on_source_side(c));
}

TEST(Cut, OfTwoBackendsIsTheLeastOfAllLabellings) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const test::Problem problem(seed, 9, 2);
    double least = std::numeric_limits<double>::infinity();
    for_all_labels(problem.wiring.size(), 2, [&](const Labels& labels) {
      if (possible(problem.costs, labels))
        least = std::min(least, energy(problem.wiring, problem.costs, labels));
    });
    const Cut cut = cut_labels(problem.wiring, problem.costs, 0);
    EXPECT_NEAR(cut.bound_us, least, 1e-4) << "seed " << seed;
    EXPECT_NEAR(energy(problem.wiring, problem.costs, cut.labels), least, 1e-4) << "seed " << seed;
  }
}

TEST(Cut, OfThreeBackendsGivesPossibleLabelsAndABound) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    const test::Problem problem(seed, 7, 3);
    double least = std::numeric_limits<double>::infinity();
    for_all_labels(problem.wiring.size(), 3, [&](const Labels& labels) {
      if (possible(problem.costs, labels))
        least = std::min(least, energy(problem.wiring, problem.costs, labels));
    });
    const Cut cut = cut_labels(problem.wiring, problem.costs, 0);
    ASSERT_TRUE(possible(problem.costs, cut.labels)) << "seed " << seed;
    EXPECT_LE(cut.bound_us, least + 1e-4) << "seed " << seed;
    EXPECT_GE(energy(problem.wiring, problem.costs, cut.labels), least - 1e-4) << "seed " << seed;
  }
}

TEST(Search, NoPartitionGoesBelowTheBoundAndNoneBeatsTheBestByMuch) {
  double worst = 1;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const test::Problem problem(seed, 8, 2);
    const SearchRequest request{problem.wiring, problem.costs, 1};
    double least = std::numeric_limits<double>::infinity();
    for_all_labels(problem.wiring.size(), 2, [&](const Labels& labels) {
      if (!possible(problem.costs, labels)) return;
      const Blocks blocks = make_blocks(problem.wiring, labels);
      least = std::min(least, predict(problem.wiring, problem.costs, blocks).total());
    });
    const double found = best(request).prediction.total();
    EXPECT_LE(lower_bound(request), least + 1e-4) << "seed " << seed;
    EXPECT_GE(found, least - 1e-4) << "seed " << seed;
    EXPECT_LE(found, greedy(request).prediction.total() + 1e-4) << "seed " << seed;
    worst = std::max(worst, found / least);
  }
  // Launches and convexity are not part of the cut; what is found stays near the best partition all the same.
  EXPECT_LE(worst, 1.05);
}

TEST(Search, BlocksAreAsLargeAsTheyHaveToBe) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    for (const int backends : {2, 3}) {
      const test::Problem problem(seed, 12, backends);
      for (const int64_t size : {1, 2, 4, 100}) {
        const SearchRequest request{problem.wiring, problem.costs, size};
        EXPECT_TRUE(large_enough(request, greedy(request).blocks)) << "seed " << seed << " size " << size;
        EXPECT_TRUE(large_enough(request, best(request).blocks)) << "seed " << seed << " size " << size;
      }
    }
  }
}

TEST(Search, AloneRefusesWhatTheBackendDoesNotTake) {
  const test::Problem problem(3, 10, 2);
  const SearchRequest request{problem.wiring, problem.costs, 1};
  bool takes_all = true;
  for (size_t node = 0; node < problem.wiring.size(); ++node)
    takes_all = takes_all && problem.costs.takes(0, node);
  EXPECT_EQ(alone(request, 0).has_value(), takes_all);
  EXPECT_EQ(alone(request, 1)->blocks.size(), 1);
}

}  // namespace
}  // namespace hone::backend::partition
