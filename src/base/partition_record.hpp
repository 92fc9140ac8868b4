// A model that is split between backends, as found by `hone partition`: where each node runs, the cost of
// each border, and the cost of other ways to split it. It is written to a file, run by the backend
// "partition:FILE", and shown by the report. Plain data; partition_schema.hpp describes the fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::base {

inline constexpr std::string_view kPartitionSchema = "hone.partition";
inline constexpr int kPartitionVersion = 1;

struct PartitionBackend {
  std::string name;
  std::string version;
  int64_t taken = 0;
  bool measured = false;
  double launch_us = 0;
  double input_us_per_mb = 0;
  double output_us_per_mb = 0;
  int input_copies = 0;
  int output_copies = 0;
  int synchronisations = 0;
};

struct PartitionNode {
  std::string name;
  std::string op;
  bool counted = true;
  int32_t block = 0;
  std::vector<int32_t> predecessors;
  std::vector<std::string> refusals;
  std::vector<std::optional<double>> times_us;
};

struct PartitionValue {
  std::string name;
  std::string type;
  int64_t bytes = 0;
};

struct PartitionBlock {
  std::string backend;
  std::vector<int32_t> nodes;
  int64_t counted = 0;
  std::vector<PartitionValue> inputs;
  std::vector<PartitionValue> outputs;
  double nodes_ms = 0;
  double launch_ms = 0;
  std::optional<double> measured_ms;
  std::string note;
};

/// `from` and `to` are blocks; -1 is the caller.
struct PartitionBorder {
  PartitionValue value;
  int32_t from = -1;
  int32_t to = -1;
  int copies = 0;
  int synchronisations = 0;
  double time_ms = 0;
};

struct PartitionPlan {
  std::string name;
  std::string refusal;
  int64_t blocks = 0;
  int64_t borders = 0;
  double border_mb = 0;
  std::optional<double> nodes_ms, borders_ms, launches_ms, predicted_ms, measured_ms;
  int64_t samples = 0;
  bool chosen = false;
};

struct PartitionWhatIf {
  int64_t min_block_size = 1;
  int64_t blocks = 0;
  int64_t first_blocks = 0;
  double predicted_ms = 0;
};

struct PartitionStatistics {
  int64_t nodes = 0;
  int64_t supported = 0;
  double coverage = 0;
  int64_t first_blocks = 0;
  double average_nodes = 0;
  int64_t most_nodes = 0;
  std::vector<std::pair<std::string, int64_t>> unsupported;
};

struct PartitionRecord {
  std::string model;
  std::string fingerprint;
  std::string device = "cpu";
  std::string precision = "fp32";
  int threads = 1;
  std::vector<std::pair<std::string, std::vector<int64_t>>> input_shapes;
  int64_t min_block_size = 5;
  std::vector<std::string> excluded;
  bool measured = false;
  std::string times;
  std::string algorithm;
  std::optional<double> bound_ms;
  std::optional<double> predicted_ms;
  std::optional<double> measured_ms;
  std::vector<PartitionBackend> backends;
  std::vector<PartitionPlan> plans;
  std::vector<PartitionBlock> blocks;
  std::vector<PartitionBorder> borders;
  PartitionStatistics statistics;
  std::vector<PartitionWhatIf> what_if;
  std::vector<std::string> recommendations;
  std::vector<std::string> notes;
  std::vector<PartitionNode> nodes;
};

}  // namespace hone::base
