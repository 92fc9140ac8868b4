// Random graphs with random costs, for what searches partitions.
#pragma once

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backend/partition/costs.hpp"
#include "support/equivalence.hpp"
#include "support/graph_builder.hpp"

namespace hone::test {

/// A graph of small nodes in any wiring: diamonds, values that are both outputs and read inside, constants
/// that several nodes share, nodes with two outputs, views between them.
inline Graph random_wiring(uint32_t seed, size_t nodes, Dim rows = Dim(2)) {
  std::mt19937 generator(seed);
  const auto pick = [&](size_t count) { return static_cast<size_t>(generator() % count); };
  GraphBuilder b;
  std::vector<ValueId> values = {b.input("x", {rows, Dim(8)}), b.input("y", {rows, Dim(8)})};
  const ValueId shared = b.random({8});
  const auto any = [&] {
    // The latest ones more often, so that graphs become deep.
    return values[pick(2) == 0 ? pick(values.size())
                               : values.size() - 1 - pick(std::min<size_t>(3, values.size()))];
  };
  while (nodes-- > 0) {
    switch (pick(6)) {
      case 0: values.push_back(b.node("Add", {any(), any()})); break;
      case 1: values.push_back(b.node("Mul", {any(), shared})); break;
      case 2: values.push_back(b.node("Tanh", {any()})); break;
      case 3: values.push_back(b.node("Sigmoid", {any()})); break;
      case 4: values.push_back(b.node("Identity", {any()})); break;
      default: {
        const auto parts = b.nodes("Split", {any()}, 2, {{"axis", int64_t{1}}, {"num_outputs", int64_t{2}}});
        values.push_back(b.node("Concat", {parts[1], parts[0]}, {{"axis", int64_t{1}}}));
      }
    }
  }
  // The last value, and one that others may read.
  std::vector<ValueId> outputs = {values.back()};
  if (values.size() > 4) outputs.push_back(values[values.size() / 2]);
  return b.finish(outputs);
}

/// A graph with times that have no structure, which is the hardest.
struct Problem {
  Problem(uint32_t seed, size_t nodes, int backends) : graph(random_wiring(seed, nodes)), wiring(graph) {
    std::mt19937 generator(seed + 1000);
    const auto uniform = [&] { return static_cast<double>(generator()) / 4294967296.0; };
    for (int backend = 0; backend < backends; ++backend) {
      std::vector<double>& times = costs.node_us.emplace_back();
      for (size_t node = 0; node < wiring.size(); ++node) {
        // The last one takes everything.
        const bool refused = backend + 1 < backends && uniform() < 0.15;
        times.push_back(refused ? std::numeric_limits<double>::infinity() : 10 * uniform());
      }
      costs.backends.push_back({2 * uniform(), 0.05 * uniform(), 0.05 * uniform()});
    }
  }

  Graph graph;
  backend::partition::Wiring wiring;
  backend::partition::Costs costs;
};

/// Labels at random.
inline backend::partition::Labels random_labels(uint32_t seed, size_t nodes, int backends) {
  std::mt19937 generator(seed);
  backend::partition::Labels labels(nodes);
  for (int& label : labels) label = static_cast<int>(generator() % static_cast<uint32_t>(backends));
  return labels;
}

}  // namespace hone::test
