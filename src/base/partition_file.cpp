// See partition_file.hpp.
#include "base/partition_file.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/partition_schema.hpp"
#include "base/read_described.hpp"

namespace hone::base {
namespace {

constexpr uint64_t kLargestFile = uint64_t{64} << 20;
constexpr int kDeepestJson = 64;

Json parse_shallow(std::string_view text) {
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepestJson) fail_bad_input("lists and objects nest more than {} deep", kDeepestJson);
    return true;
  };
  return Json::parse(text, shallow, false);
}

/// Checks the numbers with which records refer to blocks, nodes and backends.
void check_indices(const PartitionRecord& record) {
  for (size_t i = 0; i < record.nodes.size(); ++i) {
    const PartitionNode& node = record.nodes[i];
    if (node.block < 0 || static_cast<size_t>(node.block) >= record.blocks.size())
      fail_bad_input("the field nodes[{}].block is {}, and there are {} blocks", i, node.block,
                     record.blocks.size());
    if (node.refusals.size() != record.backends.size() || node.times_us.size() != record.backends.size())
      fail_bad_input("the field nodes[{}] does not have a reason and a time for each backend", i);
    for (const int32_t from : node.predecessors) {
      if (from < 0 || static_cast<size_t>(from) >= i)
        fail_bad_input("the field nodes[{}].predecessors names node {}, which is not before it", i, from);
    }
  }
  for (size_t i = 0; i < record.borders.size(); ++i) {
    const auto count = static_cast<int64_t>(record.blocks.size());
    if (record.borders[i].from >= count || record.borders[i].to >= count)
      fail_bad_input("the field borders[{}] names a block that is not there", i);
  }
}

}  // namespace

std::string partition_text(const PartitionRecord& record) {
  return described_json(record).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

PartitionRecord parse_partition(std::string_view text) {
  const Json json = parse_shallow(text);
  if (json.is_discarded()) fail_bad_input("this is no JSON file");
  if (!json.is_object() || json.value("schema", Json()) != Json(kPartitionSchema))
    fail_bad_input("the field schema is not {}: this is no partition", kPartitionSchema);
  const Json version = json.value("version", Json());
  if (version != Json(kPartitionVersion))
    fail_bad_input("the file has version {}, not {}", version.dump(), kPartitionVersion);
  PartitionRecord record = read_described<PartitionRecord>(json);
  check_indices(record);
  return record;
}

PartitionRecord read_partition(const std::filesystem::path& file) {
  const std::string text = read_file(file, kLargestFile);
  try {
    return parse_partition(text);
  } catch (const Error& error) {
    throw error.within(file.string());
  }
}

}  // namespace hone::base
