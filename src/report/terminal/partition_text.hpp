// Describes a partition on a terminal: the nodes that each backend takes, the blocks, the cost of borders,
// other ways to run the model, counts and advice.
#pragma once

#include <string>
#include <vector>

#include "base/partition_record.hpp"

namespace hone::report {

/// Returns lines; names of nodes and values are escaped.
std::vector<std::string> partition_text(const base::PartitionRecord& record);

}  // namespace hone::report
