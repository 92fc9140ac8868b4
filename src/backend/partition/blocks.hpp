// Blocks of a partition: sets of nodes that one backend runs as one model. They must be convex: no path may
// leave a block and return to it, or two blocks would wait for each other. Labels assign a backend to each
// node; blocks are made from labels in a way that cannot create cycles.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backend/partition/wiring.hpp"

namespace hone::backend::partition {

/// The backend of every node, by index.
using Labels = std::vector<int>;

struct Block {
  int backend = 0;
  std::vector<int32_t> nodes;  ///< ascending

  bool operator==(const Block&) const = default;
};

/// Blocks in an order in which each block reads only results of earlier ones.
using Blocks = std::vector<Block>;

/// Finds few blocks, by a sweep in the order of the graph and by merging. A node's level is the largest
/// number of backend changes on a path to it. Nodes of one level and one backend form one block. Two blocks
/// of a backend are merged if no path leads from one to the other through a third. Edges lead from lower to
/// higher levels or stay within a block, so no cycle can arise.
Blocks make_blocks(const Wiring& wiring, const Labels& labels);

/// The block of each node.
std::vector<int32_t> block_of_nodes(size_t nodes, std::span<const Block> blocks);

/// The blocks in an order in which each reads only earlier ones; nullopt if there is a cycle.
std::optional<std::vector<size_t>> run_order(const Wiring& wiring, std::span<const Block> blocks);

Labels labels_of(size_t nodes, std::span<const Block> blocks);

}  // namespace hone::backend::partition
