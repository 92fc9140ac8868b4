// Converts the record of a partition, which may be untrusted, to blocks that can be run.
#pragma once

#include <string>
#include <vector>

#include "backend/partition/blocks.hpp"
#include "base/partition_record.hpp"

namespace hone::backend::partition {

/// The blocks of a record for this graph; their backends are indices into `backends`, which receives the
/// names. Bad input if the record is for another model, if a node is in no block or in two, if a block is
/// empty or has an unknown backend, or if blocks wait for each other.
Blocks checked_blocks(const base::PartitionRecord& record, const graph::Graph& prepared,
                      std::vector<std::string>* backends);

}  // namespace hone::backend::partition
