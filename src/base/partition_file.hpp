// The file of a partition: the described JSON of its record. It is untrusted, like every file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/partition_record.hpp"

namespace hone::base {

std::string partition_text(const PartitionRecord& record);

/// Reads at most 64 MiB with a nesting of at most 64. Bad input names the file and the field.
PartitionRecord read_partition(const std::filesystem::path& file);
/// Parses a partition from text. It checks that numbers of blocks, nodes and backends exist; whether the
/// blocks are a partition of a model can only be checked with the model.
PartitionRecord parse_partition(std::string_view text);

}  // namespace hone::base
