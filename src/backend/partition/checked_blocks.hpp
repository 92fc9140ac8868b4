// From the record of a partition, which may come from anywhere, to blocks that can be run.
#pragma once

#include <string>
#include <vector>

#include "backend/partition/blocks.hpp"
#include "base/partition_record.hpp"

namespace hone::backend::partition {

/// Blocks of a record for this graph, their backends numbered as in `backends`, which gets the names. Bad
/// input where the record is of another model, a node is in no block or in two, a block is empty or of a
/// backend that is not known, or blocks wait for each other.
Blocks checked_blocks(const base::PartitionRecord& record, const graph::Graph& prepared,
                      std::vector<std::string>* backends);

}  // namespace hone::backend::partition
