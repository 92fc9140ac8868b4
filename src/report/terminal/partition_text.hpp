// A partition as people read it on a terminal: which nodes each backend takes, the blocks, what borders cost,
// other ways to run the model, counts and advice.
#pragma once

#include <string>
#include <vector>

#include "base/partition_record.hpp"

namespace hone::report {

/// Lines; names of nodes and values are printable.
std::vector<std::string> partition_text(const base::PartitionRecord& record);

}  // namespace hone::report
