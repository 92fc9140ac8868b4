// See checked_blocks.hpp.
#include "backend/partition/checked_blocks.hpp"

#include <algorithm>

#include "backend/registry.hpp"
#include "base/error.hpp"

namespace hone::backend::partition {
namespace {

int number_of(const std::string& backend, std::vector<std::string>* backends) {
  const std::vector<std::string> known = backend_names();
  if (std::find(known.begin(), known.end(), backend) == known.end())
    fail_bad_input("unknown backend '{}' ({})", backend, fmt::join(known, ", "));
  const auto found = std::find(backends->begin(), backends->end(), backend);
  if (found != backends->end()) return static_cast<int>(found - backends->begin());
  backends->push_back(backend);
  return static_cast<int>(backends->size()) - 1;
}

/// Checks that each node is in exactly one block.
void check_cover(const base::PartitionRecord& record, const graph::Graph& prepared) {
  std::vector<int64_t> block_of(prepared.nodes.size(), -1);
  for (size_t i = 0; i < record.blocks.size(); ++i) {
    if (record.blocks[i].nodes.empty()) fail_bad_input("block {} has no nodes", i);
    for (const int32_t node : record.blocks[i].nodes) {
      if (node < 0 || static_cast<size_t>(node) >= prepared.nodes.size())
        fail_bad_input("block {} names node {}, and the model has {}", i, node, prepared.nodes.size());
      int64_t& block = block_of[static_cast<size_t>(node)];
      if (block >= 0)
        fail_bad_input("{} is in block {} and in block {}", prepared.nodes[static_cast<size_t>(node)].text(),
                       block, i);
      block = static_cast<int64_t>(i);
    }
  }
  const auto missing = std::find(block_of.begin(), block_of.end(), -1);
  if (missing != block_of.end()) {
    fail_bad_input("{} is in no block",
                   prepared.nodes[static_cast<size_t>(missing - block_of.begin())].text());
  }
}

}  // namespace

Blocks checked_blocks(const base::PartitionRecord& record, const graph::Graph& prepared,
                      std::vector<std::string>* backends) {
  if (const std::string own = fingerprint(prepared); record.fingerprint != own) {
    fail_bad_input(
        "this is a partition of another model ({}, fingerprint {}; this one has {}): partition this one with "
        "hone partition",
        record.model, record.fingerprint, own);
  }
  check_cover(record, prepared);
  Blocks blocks;
  for (const base::PartitionBlock& block : record.blocks) {
    Block& made = blocks.emplace_back(Block{number_of(block.backend, backends), block.nodes});
    std::sort(made.nodes.begin(), made.nodes.end());
  }
  const Wiring wiring(prepared);
  const auto order = run_order(wiring, blocks);
  if (!order) fail_bad_input("blocks wait for each other: a path leaves one and comes back to it");
  Blocks sorted;
  for (const size_t block : *order) sorted.push_back(blocks[block]);
  return sorted;
}

}  // namespace hone::backend::partition
