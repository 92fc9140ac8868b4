// A partitioned model as a graph: each block is a region whose kind is the name of its backend.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/partition/blocks.hpp"
#include "import/model.hpp"

namespace hone::backend::partition {

/// The graph with one Region node a block, named block0, block1 and so on, in the order in which they run.
/// Constants are inputs of every block that reads them and share their bytes. An integer that crosses from
/// block to block and that shape inference knows becomes a constant, so that a shape which one block computes
/// is known to the next; `folded`, when given, counts these. Then the result holds for the shapes of this
/// graph only. A block that nothing is left of has no node.
graph::Graph with_regions(const graph::Graph& typed, std::span<const Block> blocks,
                          const std::vector<std::string>& backends, size_t* folded = nullptr);

/// A region's body as a model of its own: its inputs are those that are no constants.
importer::Model block_model(const graph::Graph& graph, const graph::Node& region);

}  // namespace hone::backend::partition
