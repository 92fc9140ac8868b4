// The file of a partition: the described JSON of its record. It is untrusted, as every file is.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/partition_record.hpp"

namespace hone::base {

std::string partition_text(const PartitionRecord& record);

/// 64 MiB at most, nesting at most 64 deep. Bad input naming the file and the field.
PartitionRecord read_partition(const std::filesystem::path& file);
/// Reads a partition from text. Each number of a block, a node or a backend refers to one that exists; only
/// the model can say whether the blocks are a partition of it.
PartitionRecord parse_partition(std::string_view text);

}  // namespace hone::base
