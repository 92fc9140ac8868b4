// Ways to partition a model: like Torch-TensorRT (every node on the first backend that accepts it), by the
// cut that minimises the predicted time, or entirely on one backend.
#pragma once

#include <optional>
#include <string>

#include "backend/partition/costs.hpp"

namespace hone::backend::partition {

struct SearchRequest {
  const Wiring& wiring;
  const Costs& costs;
  /// Blocks of all backends but the last have at least this number of counted nodes, unless no other backend
  /// accepts their nodes.
  int64_t min_block_size = 5;
};

struct Solution {
  Blocks blocks;
  Prediction prediction;
};

/// Puts each node on the first backend that accepts it. Blocks that are too small move to the first later
/// backend that accepts all their nodes, until there are none left.
Solution greedy(const SearchRequest& request);

/// All nodes on one backend, as one block; nullopt if it refuses a node.
std::optional<Solution> alone(const SearchRequest& request, int backend);

/// Starts from cuts with several charges for launches, from the greedy partition and from single backends.
/// Improves each by moving whole blocks to other backends while that helps, and returns the one with the
/// lowest predicted time.
Solution best(const SearchRequest& request);

/// A lower bound on the predicted time of any partition, in microseconds.
double lower_bound(const SearchRequest& request);

/// True if every block is large enough or cannot be moved.
bool large_enough(const SearchRequest& request, const Blocks& blocks);

}  // namespace hone::backend::partition
