// Sentences with numbers about the effect of another
// min_block_size, another operator, or no partition at all.
#pragma once

#include <string>
#include <vector>

#include "backend/partition/search.hpp"
#include "base/partition_record.hpp"

namespace hone::backend::partition {

/// Greedy partitions for every minimum size at which they change, from 1 until the first backend has no block
/// left, or none that can be moved.
std::vector<base::PartitionWhatIf> what_if(const SearchRequest& request);

/// Recommendations from a record that is otherwise complete.
std::vector<std::string> recommendations(const base::PartitionRecord& record);

}  // namespace hone::backend::partition
