// See search.hpp.
#include "backend/partition/search.hpp"

#include <algorithm>
#include <numeric>

#include "backend/partition/cut.hpp"

namespace hone::backend::partition {
namespace {

/// Shares of a launch, tried in turn as the charge for a crossing: several values may enter one block.
constexpr double kLaunchShares[] = {0, 0.5, 1};
/// The most partitions that one search examines while it moves
/// blocks: one or two seconds for a model with a thousand nodes.
constexpr int kMostTries = 1000;
/// A smaller gain is a rounding error.
constexpr double kLeastGain = 1e-6;

Solution solution_of(const SearchRequest& request, Blocks blocks) {
  Solution solution{std::move(blocks), {}};
  solution.prediction = predict(request.wiring, request.costs, solution.blocks);
  return solution;
}

int last_backend(const SearchRequest& request) { return static_cast<int>(request.costs.count()) - 1; }

bool too_small(const SearchRequest& request, const Block& block) {
  return block.backend != last_backend(request) && request.wiring.count(block.nodes) < request.min_block_size;
}

Labels moved(const Labels& labels, const Block& block, int backend) {
  Labels result = labels;
  for (const int32_t node : block.nodes) result[static_cast<size_t>(node)] = backend;
  return result;
}

/// The first later backend that accepts the whole block; -1 if none does.
int next_taker(const SearchRequest& request, const Block& block) {
  for (int backend = block.backend + 1; backend <= last_backend(request); ++backend) {
    if (request.costs.takes_all(backend, block.nodes)) return backend;
  }
  return -1;
}

/// Moves blocks that are too small to later backends, the smallest
/// first. It ends, because backend indices only increase.
Labels without_small_blocks(const SearchRequest& request, Labels labels) {
  while (true) {
    const Blocks blocks = make_blocks(request.wiring, labels);
    const Block* smallest = nullptr;
    for (const Block& block : blocks) {
      if (!too_small(request, block) || next_taker(request, block) < 0) continue;
      if (smallest == nullptr || request.wiring.count(block.nodes) < request.wiring.count(smallest->nodes))
        smallest = &block;
    }
    if (smallest == nullptr) return labels;
    labels = moved(labels, *smallest, next_taker(request, *smallest));
  }
}

/// Moves one block at a time to another backend while that lowers the prediction, the best move first.
Solution improved(const SearchRequest& request, Labels labels) {
  Solution now = solution_of(request, make_blocks(request.wiring, labels));
  int tries = 0;
  while (tries < kMostTries) {
    std::optional<Solution> better;
    for (const Block& block : now.blocks) {
      for (int backend = 0; backend <= last_backend(request); ++backend) {
        if (backend == block.backend || !request.costs.takes_all(backend, block.nodes)) continue;
        ++tries;
        Solution tried = solution_of(request, make_blocks(request.wiring, moved(labels, block, backend)));
        if (!large_enough(request, tried.blocks)) continue;
        const double least = better ? better->prediction.total() : now.prediction.total() - kLeastGain;
        if (tried.prediction.total() < least) better = std::move(tried);
      }
    }
    if (!better) return now;
    now = std::move(*better);
    labels = labels_of(request.wiring.size(), now.blocks);
  }
  return now;
}

Labels greedy_labels(const SearchRequest& request) {
  Labels labels(request.wiring.size(), 0);
  for (size_t node = 0; node < labels.size(); ++node) {
    while (labels[node] < last_backend(request) && !request.costs.takes(labels[node], node)) ++labels[node];
  }
  return labels;
}

/// Between equal solutions, the one with fewer blocks is better.
bool is_better(const Solution& a, const Solution& b) {
  const double difference = a.prediction.total() - b.prediction.total();
  return difference < -kLeastGain || (difference <= kLeastGain && a.blocks.size() < b.blocks.size());
}

}  // namespace

bool large_enough(const SearchRequest& request, const Blocks& blocks) {
  return std::none_of(blocks.begin(), blocks.end(), [&](const Block& block) {
    return too_small(request, block) && next_taker(request, block) >= 0;
  });
}

Solution greedy(const SearchRequest& request) {
  const Labels labels = without_small_blocks(request, greedy_labels(request));
  return solution_of(request, make_blocks(request.wiring, labels));
}

std::optional<Solution> alone(const SearchRequest& request, int backend) {
  Block block{backend, std::vector<int32_t>(request.wiring.size())};
  std::iota(block.nodes.begin(), block.nodes.end(), 0);
  if (!request.costs.takes_all(backend, block.nodes)) return std::nullopt;
  return solution_of(request, {std::move(block)});
}

Solution best(const SearchRequest& request) {
  std::optional<Solution> best;
  const auto offer = [&](Solution solution) {
    if (large_enough(request, solution.blocks) && (!best || is_better(solution, *best)))
      best = std::move(solution);
  };
  for (int backend = 0; backend <= last_backend(request); ++backend) {
    if (auto one = alone(request, backend)) offer(std::move(*one));
  }
  offer(improved(request, without_small_blocks(request, greedy_labels(request))));
  if (request.costs.count() < 2) return std::move(*best);
  for (const double share : kLaunchShares) {
    const Labels labels = cut_labels(request.wiring, request.costs, share).labels;
    offer(improved(request, without_small_blocks(request, labels)));
  }
  return std::move(*best);
}

double lower_bound(const SearchRequest& request) {
  const auto once = [](const BackendCost& backend) { return backend.launch_us + backend.wait_us; };
  double launch = once(request.costs.backends.front());
  for (const BackendCost& backend : request.costs.backends) launch = std::min(launch, once(backend));
  if (request.costs.count() < 2) return alone(request, 0)->prediction.total();
  return cut_labels(request.wiring, request.costs, 0).bound_us + launch;
}

}  // namespace hone::backend::partition
