// Fields of a partition, schema hone.partition; they define how it is written and read, and its type in the
// page.
#pragma once

#include "base/described.hpp"
#include "base/partition_record.hpp"

namespace hone::base {

template <>
struct Description<PartitionBackend> {
  using Backend = PartitionBackend;
  static constexpr std::string_view kName = "PartitionBackend";
  static constexpr std::tuple kFields{
      Field{"name", &Backend::name, "Name of the backend"},
      Field{"version", &Backend::version, "Version of the system behind it"},
      Field{"taken", &Backend::taken, "Nodes that it takes", unit::kCount},
      Field{"measured", &Backend::measured, "True if times were measured on it"},
      Field{"launch_us", &Backend::launch_us, "Time of a block beyond its nodes and borders, in us"},
      Field{"input_us_per_mb", &Backend::input_us_per_mb, "Time to take in 1e6 bytes, in us"},
      Field{"output_us_per_mb", &Backend::output_us_per_mb, "Time to hand out 1e6 bytes, in us"},
      Field{"input_copies", &Backend::input_copies, "Copies of each input", unit::kCount},
      Field{"output_copies", &Backend::output_copies, "Copies of each output", unit::kCount},
      Field{"synchronisations", &Backend::synchronisations, "Waits of the host at the end of a block",
            unit::kCount}};
};

template <>
struct Description<PartitionNode> {
  using Node = PartitionNode;
  static constexpr std::string_view kName = "PartitionNode";
  static constexpr std::tuple kFields{
      Field{"name", &Node::name, "Name in the model"},
      Field{"op", &Node::op, "Operator"},
      Field{"counted", &Node::counted, "Whether min_block_size counts it: it computes or moves elements"},
      Field{"block", &Node::block, "Block that it is in"},
      Field{"predecessors", &Node::predecessors, "Nodes whose outputs it reads"},
      Field{"refusals", &Node::refusals,
            "Why a backend does not take it, one text a backend; empty: it does"},
      Field{"times_us", &Node::times_us, "Time on each backend, in us; null where it is refused"}};
};

template <>
struct Description<PartitionValue> {
  using Value = PartitionValue;
  static constexpr std::string_view kName = "PartitionValue";
  static constexpr std::tuple kFields{Field{"name", &Value::name, "Name in the model"},
                                      Field{"type", &Value::type, "Element type and shape"},
                                      Field{"bytes", &Value::bytes, "Size", unit::kBytes}};
};

template <>
struct Description<PartitionBlock> {
  using Block = PartitionBlock;
  static constexpr std::string_view kName = "PartitionBlock";
  static constexpr std::tuple kFields{
      Field{"backend", &Block::backend, "What runs it"},
      Field{"nodes", &Block::nodes, "Its nodes, ascending"},
      Field{"counted", &Block::counted, "Nodes that min_block_size counts", unit::kCount},
      Field{"inputs", &Block::inputs, "Values that it takes in"},
      Field{"outputs", &Block::outputs, "Values that it hands out"},
      Field{"nodes_ms", &Block::nodes_ms, "Time of its nodes", unit::kMs, origin::kEstimated},
      Field{"launch_ms", &Block::launch_ms, "Time beyond them", unit::kMs, origin::kEstimated},
      Field{"measured_ms", &Block::measured_ms, "Median time of the block with its borders", unit::kMs,
            origin::kMeasured},
      Field{"note", &Block::note, "What is to be known of it"}};
};

template <>
struct Description<PartitionBorder> {
  using Border = PartitionBorder;
  static constexpr std::string_view kName = "PartitionBorder";
  static constexpr std::tuple kFields{
      Field{"value", &Border::value, "What crosses"},
      at_least(-1, Field{"from", &Border::from, "Block that makes it; -1: the caller"}),
      at_least(-1, Field{"to", &Border::to, "Block that reads it; -1: the caller"}),
      Field{"copies", &Border::copies, "Copies of it", unit::kCount},
      Field{"synchronisations", &Border::synchronisations, "Waits of the host", unit::kCount},
      Field{"time_ms", &Border::time_ms, "What crossing costs", unit::kMs, origin::kEstimated}};
};

template <>
struct Description<PartitionPlan> {
  using Plan = PartitionPlan;
  static constexpr std::string_view kName = "PartitionPlan";
  static constexpr std::tuple kFields{
      Field{"name", &Plan::name, "best, greedy, or a backend alone"},
      Field{"refusal", &Plan::refusal, "Why it cannot be run, or is not to be chosen; empty: it can"},
      Field{"blocks", &Plan::blocks, "Blocks", unit::kCount},
      Field{"borders", &Plan::borders, "Values that cross from block to block", unit::kCount},
      Field{"border_mb", &Plan::border_mb, "Their size", unit::kMegabytes},
      Field{"nodes_ms", &Plan::nodes_ms, "Time of the nodes", unit::kMs, origin::kEstimated},
      Field{"borders_ms", &Plan::borders_ms, "Time of the borders", unit::kMs, origin::kEstimated},
      Field{"launches_ms", &Plan::launches_ms, "Time to begin and end blocks", unit::kMs, origin::kEstimated},
      Field{"predicted_ms", &Plan::predicted_ms, "All of these", unit::kMs, origin::kEstimated},
      Field{"measured_ms", &Plan::measured_ms, "Median latency, plans taking turns", unit::kMs,
            origin::kMeasured},
      Field{"samples", &Plan::samples, "Runs that were measured", unit::kCount},
      Field{"chosen", &Plan::chosen, "Whether the blocks are those of this plan"}};
};

template <>
struct Description<PartitionWhatIf> {
  using WhatIf = PartitionWhatIf;
  static constexpr std::string_view kName = "PartitionWhatIf";
  static constexpr std::tuple kFields{
      Field{"min_block_size", &WhatIf::min_block_size, "Least number of nodes of a block", unit::kCount},
      Field{"blocks", &WhatIf::blocks, "Blocks of the greedy partition", unit::kCount},
      Field{"first_blocks", &WhatIf::first_blocks, "Blocks of the first backend", unit::kCount},
      Field{"predicted_ms", &WhatIf::predicted_ms, "Predicted time", unit::kMs, origin::kEstimated}};
};

template <>
struct Description<PartitionStatistics> {
  using Statistics = PartitionStatistics;
  static constexpr std::string_view kName = "PartitionStatistics";
  static constexpr std::tuple kFields{
      Field{"nodes", &Statistics::nodes, "Nodes of the model", unit::kCount},
      Field{"supported", &Statistics::supported, "Nodes that the first backend takes", unit::kCount},
      Field{"coverage", &Statistics::coverage, "Share of nodes that a backend takes", unit::kShare},
      Field{"first_blocks", &Statistics::first_blocks, "Blocks of the first backend", unit::kCount},
      Field{"average_nodes", &Statistics::average_nodes, "Nodes of such a block on average", unit::kCount},
      Field{"most_nodes", &Statistics::most_nodes, "Nodes of the largest of them", unit::kCount},
      Field{"unsupported", &Statistics::unsupported,
            "Operators that the first backend does not take, and how many nodes have them"}};
};

template <>
struct Description<PartitionRecord> {
  using Record = PartitionRecord;
  static constexpr std::string_view kName = "Partition";
  static constexpr std::tuple kFields{
      Field{"schema", [](const Record&) { return kPartitionSchema; }, "hone.partition"},
      Field{"version", [](const Record&) { return kPartitionVersion; }, "Of the schema"},
      Field{"model", &Record::model, "Model as it was named"},
      Field{"fingerprint", &Record::fingerprint, "Hash of the model's structure, weights left out"},
      Field{"device", &Record::device, "Where it runs"},
      Field{"precision", &Record::precision, "Precision of every backend"},
      at_least(1, Field{"threads", &Record::threads, "Threads of every backend", unit::kCount}),
      Field{"input_shapes", &Record::input_shapes, "Shapes that times are for"},
      at_least(1, Field{"min_block_size", &Record::min_block_size,
                        "Least number of nodes of a block of a backend before the last", unit::kCount}),
      Field{"excluded", &Record::excluded, "Operators that only the last backend may run"},
      Field{"measured", &Record::measured, "True if all times of nodes were measured"},
      Field{"times", &Record::times, "Where times come from"},
      Field{"algorithm", &Record::algorithm, "How the best partition was found, and what is known of it"},
      Field{"bound_ms", &Record::bound_ms, "No partition has a lower predicted time", unit::kMs,
            origin::kEstimated},
      Field{"predicted_ms", &Record::predicted_ms, "Predicted time of the chosen partition", unit::kMs,
            origin::kEstimated},
      Field{"measured_ms", &Record::measured_ms, "Its median latency", unit::kMs, origin::kMeasured},
      Field{"backends", &Record::backends,
            "Backends in the order of preference; the last takes what is left"},
      Field{"plans", &Record::plans, "Ways to run the model"},
      Field{"blocks", &Record::blocks, "Blocks of the chosen one, in the order in which they run"},
      Field{"borders", &Record::borders, "What crosses between them"},
      Field{"statistics", &Record::statistics, "Counts"},
      Field{"what_if", &Record::what_if, "Greedy partitions by the least size of a block"},
      Field{"recommendations", &Record::recommendations, "Suggestions, with numbers"},
      Field{"notes", &Record::notes, "What is to be known of all this"},
      Field{"nodes", &Record::nodes, "Nodes of the model, constants folded and dead ones left out"}};
};

}  // namespace hone::base
