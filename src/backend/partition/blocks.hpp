// Blocks of a partition: sets of nodes that one backend runs as one model. They must be convex: no path may
// leave a block and come back, or two blocks would wait for each other. Labels say which backend a node has;
// blocks are made of labels in a way that cannot give cycles.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backend/partition/wiring.hpp"

namespace hone::backend::partition {

/// The backend of every node, by its number.
using Labels = std::vector<int>;

struct Block {
  int backend = 0;
  std::vector<int32_t> nodes;  ///< ascending

  bool operator==(const Block&) const = default;
};

/// Blocks in an order in which each reads only results of earlier ones.
using Blocks = std::vector<Block>;

/// As few blocks as a sweep in the order of the graph and merging afterwards find: a node's level is the
/// largest number of changes of backend on a path to it, nodes of one level and one backend are one block,
/// and two blocks of a backend become one where no path leads from one to the other through a third. Edges
/// lead from lower levels to higher ones or stay within a block, so no cycle can arise.
Blocks make_blocks(const Wiring& wiring, const Labels& labels);

/// The block of each node.
std::vector<int32_t> block_of_nodes(size_t nodes, std::span<const Block> blocks);

/// The blocks in an order in which each reads only earlier ones; nullopt where there is a cycle.
std::optional<std::vector<size_t>> run_order(const Wiring& wiring, std::span<const Block> blocks);

Labels labels_of(size_t nodes, std::span<const Block> blocks);

}  // namespace hone::backend::partition
