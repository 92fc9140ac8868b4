// Ways to split a model: as Torch-TensorRT does (every node to the first backend that takes it), by the cut
// that minimises predicted time, and each backend by itself.
#pragma once

#include <optional>
#include <string>

#include "backend/partition/costs.hpp"

namespace hone::backend::partition {

struct SearchRequest {
  const Wiring& wiring;
  const Costs& costs;
  /// Blocks of a backend before the last one have at least this many counted nodes, unless nobody else takes
  /// what is in them.
  int64_t min_block_size = 5;
};

struct Solution {
  Blocks blocks;
  Prediction prediction;
};

/// Each node on the first backend that takes it; blocks that are too small go to the first later backend that
/// takes all of them, again and again until none is left.
Solution greedy(const SearchRequest& request);

/// Every node on one backend, as one block; nullopt where it refuses a node.
std::optional<Solution> alone(const SearchRequest& request, int backend);

/// The best that cuts with several charges for launches, the greedy partition and single backends lead to, by
/// the predicted time of its blocks, each improved by moving whole blocks to other backends while that helps.
Solution best(const SearchRequest& request);

/// No partition has a lower predicted time than this, microseconds.
double lower_bound(const SearchRequest& request);

/// True if every block is as large as it has to be, or cannot be moved.
bool large_enough(const SearchRequest& request, const Blocks& blocks);

}  // namespace hone::backend::partition
