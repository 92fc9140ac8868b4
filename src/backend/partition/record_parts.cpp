// See record_parts.hpp.
#include "backend/partition/record_parts.hpp"

#include <algorithm>
#include <map>

#include "base/statistics.hpp"

namespace hone::backend::partition {
namespace {

constexpr double kMega = 1e6;
constexpr double kMicrosecondsPerMs = 1e3;

base::PartitionValue value_record(const graph::Graph& typed, const Flow& flow) {
  const graph::Value& value = typed.value(flow.value);
  return {value.name, value.type.text(), static_cast<int64_t>(flow.bytes)};
}

}  // namespace

void fill_plan(const Wiring& wiring, const Solution& solution, base::PartitionPlan& plan) {
  plan.blocks = static_cast<int64_t>(solution.blocks.size());
  for (const Crossing& crossing : crossings(wiring, solution.blocks)) {
    if (crossing.from < 0 || crossing.to < 0) continue;
    ++plan.borders;
    plan.border_mb += wiring.flows[crossing.flow].bytes / kMega;
  }
  const Prediction& prediction = solution.prediction;
  plan.nodes_ms = prediction.nodes_us / kMicrosecondsPerMs;
  plan.borders_ms = prediction.borders_us / kMicrosecondsPerMs;
  plan.launches_ms = prediction.launches_us / kMicrosecondsPerMs;
  plan.predicted_ms = prediction.total() / kMicrosecondsPerMs;
}

std::vector<base::PartitionBlock> block_records(const Parts& parts) {
  std::vector<base::PartitionBlock> records;
  for (const Block& block : parts.blocks) {
    const auto backend = static_cast<size_t>(block.backend);
    base::PartitionBlock& record = records.emplace_back();
    record.backend = parts.backends[backend];
    record.nodes = block.nodes;
    record.counted = parts.wiring.count(block.nodes);
    record.launch_ms = parts.costs.backends[backend].launch_us / kMicrosecondsPerMs;
    for (const int32_t node : block.nodes)
      record.nodes_ms += parts.costs.node(block.backend, static_cast<size_t>(node)) / kMicrosecondsPerMs;
  }
  std::vector<size_t> handed_out(records.size(), parts.wiring.flows.size());
  for (const Crossing& crossing : crossings(parts.wiring, parts.blocks)) {
    const base::PartitionValue value = value_record(parts.typed, parts.wiring.flows[crossing.flow]);
    if (crossing.to >= 0) records[static_cast<size_t>(crossing.to)].inputs.push_back(value);
    if (crossing.from < 0) continue;
    size_t& last = handed_out[static_cast<size_t>(crossing.from)];
    if (last != crossing.flow) records[static_cast<size_t>(crossing.from)].outputs.push_back(value);
    last = crossing.flow;
  }
  return records;
}

std::vector<base::PartitionBorder> border_records(const Parts& parts,
                                                  const std::vector<base::PartitionBackend>& backends) {
  std::vector<base::PartitionBorder> records;
  size_t handed_out = parts.wiring.flows.size();
  const auto backend_of = [&](int32_t block) { return parts.blocks[static_cast<size_t>(block)].backend; };
  for (const Crossing& crossing : crossings(parts.wiring, parts.blocks)) {
    const Flow& flow = parts.wiring.flows[crossing.flow];
    base::PartitionBorder& record = records.emplace_back();
    record.value = value_record(parts.typed, flow);
    record.from = crossing.from;
    record.to = crossing.to;
    // The cost of handing a value out is charged to its first reader.
    if (crossing.from >= 0 && crossing.flow != handed_out) {
      const int backend = backend_of(crossing.from);
      record.copies += backends[static_cast<size_t>(backend)].output_copies;
      if (!parts.on_gpu) record.synchronisations += backends[static_cast<size_t>(backend)].synchronisations;
      record.time_ms += parts.costs.output_us(backend, flow.bytes) / kMicrosecondsPerMs;
      handed_out = crossing.flow;
    }
    if (crossing.to < 0) continue;
    const int backend = backend_of(crossing.to);
    record.copies += backends[static_cast<size_t>(backend)].input_copies;
    if (parts.on_gpu) record.synchronisations += backends[static_cast<size_t>(backend)].synchronisations;
    record.time_ms += parts.costs.input_us(backend, flow.bytes) / kMicrosecondsPerMs;
  }
  return records;
}

std::vector<base::PartitionNode> node_records(const Parts& parts) {
  const std::vector<int32_t> block = block_of_nodes(parts.wiring.size(), parts.blocks);
  std::vector<base::PartitionNode> records;
  for (size_t i = 0; i < parts.typed.nodes.size(); ++i) {
    base::PartitionNode& record = records.emplace_back();
    record.name = parts.typed.nodes[i].name;
    record.op = parts.typed.nodes[i].op;
    record.counted = parts.wiring.counted[i];
    record.block = block[i];
    record.predecessors = parts.wiring.predecessors[i];
    for (size_t backend = 0; backend < parts.backends.size(); ++backend) {
      const Refusal& refusal = parts.refusals[backend][i];
      record.refusals.push_back(refusal.text());
      record.times_us.push_back(refusal ? std::nullopt : std::optional(parts.costs.node_us[backend][i]));
    }
  }
  return records;
}

base::PartitionStatistics statistics_of(const Parts& parts) {
  base::PartitionStatistics statistics;
  std::map<std::string, int64_t> unsupported;
  const std::vector<Refusal>& first = parts.refusals.front();
  statistics.nodes = static_cast<int64_t>(first.size());
  for (size_t node = 0; node < first.size(); ++node) {
    if (first[node]) ++unsupported[parts.typed.nodes[node].op];
    statistics.supported += first[node] ? 0 : 1;
  }
  statistics.coverage = static_cast<double>(statistics.supported) / static_cast<double>(statistics.nodes);
  statistics.unsupported.assign(unsupported.begin(), unsupported.end());
  int64_t nodes = 0;
  for (const Block& block : parts.blocks) {
    if (block.backend != 0) continue;
    ++statistics.first_blocks;
    const auto size = static_cast<int64_t>(block.nodes.size());
    nodes += size;
    statistics.most_nodes = std::max(statistics.most_nodes, size);
  }
  if (statistics.first_blocks > 0)
    statistics.average_nodes = static_cast<double>(nodes) / static_cast<double>(statistics.first_blocks);
  return statistics;
}

void add_block_times(const Timed& timed, std::vector<base::PartitionBlock>& blocks) {
  for (size_t block = 0; block < blocks.size(); ++block) {
    std::vector<double> times;
    for (const std::vector<double>& run : timed.block_us) times.push_back(run[block] / kMicrosecondsPerMs);
    if (!times.empty()) blocks[block].measured_ms = base::median(std::move(times));
  }
}

}  // namespace hone::backend::partition
