// See blocks.hpp.
#include "backend/partition/blocks.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace hone::backend::partition {
namespace {

/// Merging compares all pairs of blocks; with more blocks than this, they are not merged.
constexpr size_t kMostMerged = 256;

std::vector<std::set<size_t>> successors(const Wiring& wiring, std::span<const Block> blocks) {
  const std::vector<int32_t> block = block_of_nodes(wiring.size(), blocks);
  std::vector<std::set<size_t>> result(blocks.size());
  for (size_t node = 0; node < wiring.size(); ++node) {
    for (const int32_t from : wiring.predecessors[node]) {
      const int32_t source = block[static_cast<size_t>(from)];
      if (source != block[node]) result[static_cast<size_t>(source)].insert(static_cast<size_t>(block[node]));
    }
  }
  return result;
}

/// For each block, all blocks that can be reached from it.
std::vector<std::vector<bool>> reachable(const std::vector<std::set<size_t>>& next) {
  std::vector<std::vector<bool>> reach(next.size(), std::vector<bool>(next.size(), false));
  for (size_t from = 0; from < next.size(); ++from) {
    std::vector<size_t> open(next[from].begin(), next[from].end());
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      if (reach[from][at]) continue;
      reach[from][at] = true;
      open.insert(open.end(), next[at].begin(), next[at].end());
    }
  }
  return reach;
}

/// Merges two blocks if possible; otherwise returns false.
bool merge_two(const Wiring& wiring, Blocks& blocks) {
  const std::vector<std::set<size_t>> next = successors(wiring, blocks);
  const std::vector<std::vector<bool>> reach = reachable(next);
  /// True if a path leads from one block to the other through a third.
  const auto detour = [&](size_t from, size_t to) {
    return std::any_of(next[from].begin(), next[from].end(),
                       [&](size_t after) { return after != to && reach[after][to]; });
  };
  for (size_t a = 0; a < blocks.size(); ++a) {
    for (size_t b = a + 1; b < blocks.size(); ++b) {
      if (blocks[a].backend != blocks[b].backend || detour(a, b) || detour(b, a)) continue;
      std::vector<int32_t> both;
      std::merge(blocks[a].nodes.begin(), blocks[a].nodes.end(), blocks[b].nodes.begin(),
                 blocks[b].nodes.end(), std::back_inserter(both));
      blocks[a].nodes = std::move(both);
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(b));
      return true;
    }
  }
  return false;
}

Blocks in_order(const Wiring& wiring, Blocks blocks) {
  const auto order = run_order(wiring, blocks);
  if (!order) fail_internal("blocks of a partition form a cycle");
  Blocks sorted;
  for (const size_t block : *order) sorted.push_back(std::move(blocks[block]));
  return sorted;
}

}  // namespace

std::vector<int32_t> block_of_nodes(size_t nodes, std::span<const Block> blocks) {
  std::vector<int32_t> result(nodes, -1);
  for (size_t block = 0; block < blocks.size(); ++block) {
    for (const int32_t node : blocks[block].nodes)
      result[static_cast<size_t>(node)] = static_cast<int32_t>(block);
  }
  return result;
}

Labels labels_of(size_t nodes, std::span<const Block> blocks) {
  Labels labels(nodes, 0);
  for (const Block& block : blocks) {
    for (const int32_t node : block.nodes) labels[static_cast<size_t>(node)] = block.backend;
  }
  return labels;
}

std::optional<std::vector<size_t>> run_order(const Wiring& wiring, std::span<const Block> blocks) {
  const std::vector<std::set<size_t>> next = successors(wiring, blocks);
  std::vector<size_t> waiting(blocks.size(), 0);
  for (const std::set<size_t>& after : next) {
    for (const size_t block : after) ++waiting[block];
  }
  // Sorted by first node, so that the order follows the graph where dependencies allow it.
  const auto first = [&](size_t block) { return blocks[block].nodes.empty() ? 0 : blocks[block].nodes[0]; };
  std::set<std::pair<int32_t, size_t>> ready;
  for (size_t block = 0; block < blocks.size(); ++block) {
    if (waiting[block] == 0) ready.insert({first(block), block});
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t block = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(block);
    for (const size_t after : next[block]) {
      if (--waiting[after] == 0) ready.insert({first(after), after});
    }
  }
  if (order.size() < blocks.size()) return std::nullopt;
  return order;
}

Blocks make_blocks(const Wiring& wiring, const Labels& labels) {
  std::vector<int32_t> level(wiring.size(), 0);
  std::map<std::pair<int32_t, int>, Block> groups;
  for (size_t node = 0; node < wiring.size(); ++node) {
    for (const int32_t from : wiring.predecessors[node]) {
      const auto source = static_cast<size_t>(from);
      level[node] = std::max(level[node], level[source] + (labels[source] == labels[node] ? 0 : 1));
    }
    Block& block = groups[{level[node], labels[node]}];
    block.backend = labels[node];
    block.nodes.push_back(static_cast<int32_t>(node));
  }
  Blocks blocks;
  for (auto& [key, block] : groups) blocks.push_back(std::move(block));
  while (blocks.size() <= kMostMerged && merge_two(wiring, blocks)) {
  }
  return in_order(wiring, std::move(blocks));
}

}  // namespace hone::backend::partition
