// See advice.hpp.
#include "backend/partition/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace hone::backend::partition {
namespace {

constexpr size_t kMostRows = 64;
/// Smaller gains are not worth a sentence: a hundredth of the time, or a microsecond.
constexpr double kLeastShare = 0.01;
constexpr double kLeastMs = 0.001;

int64_t blocks_of_first(const Blocks& blocks) {
  return std::count_if(blocks.begin(), blocks.end(), [](const Block& block) { return block.backend == 0; });
}

std::string counted(int64_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// The measured time if there is one; otherwise the predicted time.
double time_of(const base::PartitionPlan& plan) {
  if (plan.measured_ms) return *plan.measured_ms;
  return plan.predicted_ms.value_or(std::numeric_limits<double>::infinity());
}

const base::PartitionPlan* find_plan(const base::PartitionRecord& record, std::string_view name) {
  const auto found = std::find_if(record.plans.begin(), record.plans.end(),
                                  [&](const base::PartitionPlan& plan) { return plan.name == name; });
  return found == record.plans.end() ? nullptr : &*found;
}

bool matters(double gain_ms, double of_ms) { return gain_ms > kLeastMs && gain_ms > kLeastShare * of_ms; }

void add_plan_sentence(const base::PartitionRecord& record, std::vector<std::string>& lines) {
  const auto chosen = std::find_if(record.plans.begin(), record.plans.end(),
                                   [](const base::PartitionPlan& plan) { return plan.chosen; });
  const base::PartitionPlan* greedy = find_plan(record, "greedy");
  if (chosen == record.plans.end() || greedy == nullptr || &*chosen == greedy) return;
  const bool both = chosen->measured_ms && greedy->measured_ms;
  const double gain = time_of(*greedy) - time_of(*chosen);
  if (!matters(gain, time_of(*greedy))) return;
  lines.push_back(
      fmt::format("the partition '{}' with {} takes {:.3f} ms, the greedy one with {} takes {:.3f} ms: "
                  "{:.3f} ms saved ({})",
                  chosen->name, counted(chosen->blocks, "block"), time_of(*chosen),
                  counted(greedy->blocks, "block"), time_of(*greedy), gain, both ? "measured" : "predicted"));
}

void add_size_sentence(const base::PartitionRecord& record, std::vector<std::string>& lines) {
  const auto now = std::find_if(
      record.what_if.rbegin(), record.what_if.rend(),
      [&](const base::PartitionWhatIf& row) { return row.min_block_size <= record.min_block_size; });
  if (now == record.what_if.rend()) return;
  const auto best =
      std::min_element(record.what_if.begin(), record.what_if.end(),
                       [](const auto& a, const auto& b) { return a.predicted_ms < b.predicted_ms; });
  const double gain = now->predicted_ms - best->predicted_ms;
  if (!matters(gain, now->predicted_ms)) return;
  lines.push_back(fmt::format(
      "of greedy partitions, --min-block-size {} gives {} of {} instead of {} and saves {:.3f} ms "
      "({:.3f} instead of {:.3f} ms, predicted)",
      best->min_block_size, counted(best->first_blocks, "block"), record.backends.front().name,
      now->first_blocks, gain, best->predicted_ms, now->predicted_ms));
}

/// Names the operator that splits the model most often: each
/// of its nodes separates blocks of the first backend.
void add_operator_sentence(const base::PartitionRecord& record, std::vector<std::string>& lines) {
  if (record.statistics.unsupported.empty()) return;
  double borders = 0;
  for (const base::PartitionBorder& border : record.borders) {
    if (border.from >= 0 && border.to >= 0) borders += border.time_ms;
  }
  double launches = 0;
  for (size_t i = 1; i < record.blocks.size(); ++i) launches += record.blocks[i].launch_ms;
  if (!matters(borders + launches, record.predicted_ms.value_or(0))) return;
  std::string names;
  for (const auto& [op, count] : record.statistics.unsupported)
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", op, count);
  lines.push_back(
      fmt::format("borders and launches beyond the first take {:.3f} ms (predicted); {} does not take {}",
                  borders + launches, record.backends.front().name, names));
}

}  // namespace

std::vector<base::PartitionWhatIf> what_if(const SearchRequest& request) {
  std::vector<base::PartitionWhatIf> rows;
  int64_t size = 1;
  while (rows.size() < kMostRows) {
    const Solution solution = greedy({request.wiring, request.costs, size});
    base::PartitionWhatIf row{size, static_cast<int64_t>(solution.blocks.size()),
                              blocks_of_first(solution.blocks), solution.prediction.total() / 1e3};
    const bool same = !rows.empty() && rows.back().blocks == row.blocks &&
                      rows.back().first_blocks == row.first_blocks &&
                      rows.back().predicted_ms == row.predicted_ms;
    if (!same) rows.push_back(row);
    // The next size at which a block becomes too small.
    int64_t next = std::numeric_limits<int64_t>::max();
    for (const Block& block : solution.blocks) {
      const int64_t count = request.wiring.count(block.nodes);
      if (block.backend + 1 < static_cast<int>(request.costs.count()) && count >= size)
        next = std::min(next, count + 1);
    }
    if (next == std::numeric_limits<int64_t>::max()) break;
    size = next;
  }
  return rows;
}

std::vector<std::string> recommendations(const base::PartitionRecord& record) {
  std::vector<std::string> lines;
  add_plan_sentence(record, lines);
  add_size_sentence(record, lines);
  add_operator_sentence(record, lines);
  for (const base::PartitionPlan& plan : record.plans) {
    if (!plan.chosen || plan.blocks != 1 || record.backends.size() < 2) continue;
    lines.push_back(fmt::format("one block is enough: {} runs the whole model",
                                record.blocks.empty() ? "" : record.blocks.front().backend));
  }
  if (!record.measured) {
    lines.emplace_back(
        "times of nodes are estimates, which do not show how good a backend is: --measure builds and "
        "times");
  }
  return lines;
}

}  // namespace hone::backend::partition
