// Finds the best partition of a model among a list of backends, and records it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/partition_record.hpp"

namespace hone::backend::partition {

struct PartitionRequest {
  importer::Model model;
  /// The name by which the user gave the model.
  std::string spec;
  /// Shapes of all inputs, precision, threads and device.
  LoadOptions options;
  /// Backends in order of preference; the last one takes the nodes that the others refuse.
  std::vector<std::string> backends;
  int64_t min_block_size = 5;
  /// Operators that only the last backend may run.
  std::vector<std::string> excluded;
  /// If true, the first backend must accept the whole model.
  bool require_full = false;
  /// If true, unknown times are measured, and all ways to run the model are timed against each other.
  bool measure = false;
  /// Returns inputs for measurements; called only if something is measured.
  std::function<std::vector<tensor::Tensor>()> inputs;
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// Usage error for backends that are unknown or named twice, operators that do not
/// exist, a size below 1, or a precision that a backend lacks. Bad input for a model
/// that cannot be partitioned, or a node that no backend accepts. A threshold error,
/// with the nodes, if the first backend must accept the whole model but refuses some.
base::PartitionRecord find_partition(const PartitionRequest& request);

/// Runs the record's blocks and the reference once; returns the largest relative difference of an output.
double check_outputs(const PartitionRequest& request, const base::PartitionRecord& record);

}  // namespace hone::backend::partition
