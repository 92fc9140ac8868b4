// Converts a partitioned model to a graph in which each block is a region with its backend's name as kind.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/partition/blocks.hpp"
#include "import/model.hpp"

namespace hone::backend::partition {

/// The graph with one Region node for each block, named block0, block1 and so on, in the order of execution.
/// Constants are inputs of every block that reads them, and share their bytes. An integer value that crosses
/// between blocks and that shape inference knows becomes a constant, so that the next block knows a shape
/// that depends on it. `folded`, if given, counts these; the result then holds only for the shapes of this
/// graph. A block without remaining nodes gets no Region node.
graph::Graph with_regions(const graph::Graph& typed, std::span<const Block> blocks,
                          const std::vector<std::string>& backends, size_t* folded = nullptr);

/// A region's body as a separate model; its inputs are the region's inputs without constants.
importer::Model block_model(const graph::Graph& graph, const graph::Node& region);

}  // namespace hone::backend::partition
