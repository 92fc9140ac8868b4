// Fills in the parts of a partition's record from the result of the search.
#pragma once

#include <string>
#include <vector>

#include "backend/partition/node_times.hpp"
#include "backend/partition/search.hpp"
#include "base/partition_record.hpp"
#include "base/refusal.hpp"

namespace hone::backend::partition {

struct Parts {
  const graph::Graph& typed;
  const Wiring& wiring;
  const Costs& costs;
  const std::vector<std::string>& backends;
  const std::vector<std::vector<Refusal>>& refusals;
  const Blocks& blocks;
  /// On a GPU the host waits for values that it takes in; on the CPU, for values that a block hands out.
  bool on_gpu = false;
};

/// Fills in the counts and predicted times of a plan.
void fill_plan(const Wiring& wiring, const Solution& solution, base::PartitionPlan& plan);

std::vector<base::PartitionBlock> block_records(const Parts& parts);
std::vector<base::PartitionBorder> border_records(const Parts& parts,
                                                  const std::vector<base::PartitionBackend>& backends);
std::vector<base::PartitionNode> node_records(const Parts& parts);
base::PartitionStatistics statistics_of(const Parts& parts);
/// Adds the medians over the runs.
void add_block_times(const Timed& timed, std::vector<base::PartitionBlock>& blocks);

}  // namespace hone::backend::partition
