// The one door to a partition: from a model and a list of backends to the record of the best way to split it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/partition_record.hpp"

namespace hone::backend::partition {

struct PartitionRequest {
  importer::Model model;
  /// The model as the user named it.
  std::string spec;
  /// Shapes of all inputs, precision, threads, device.
  LoadOptions options;
  /// Backends in the order of preference; the last takes the nodes that the others refuse.
  std::vector<std::string> backends;
  int64_t min_block_size = 5;
  /// Operators that only the last backend may run.
  std::vector<std::string> excluded;
  /// The first backend has to take the whole model.
  bool require_full = false;
  /// Builds and times what is not known yet, and all ways to run the model against each other.
  bool measure = false;
  /// Inputs to measure with; asked for where anything is measured.
  std::function<std::vector<tensor::Tensor>()> inputs;
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// Usage error for backends that are unknown or named twice, for operators that are none, for a size below 1
/// and for a precision that a backend has not; bad input for a model that has nothing to share out, or a node
/// that no backend takes; a threshold error, with the nodes, where the whole model is required and refused.
base::PartitionRecord find_partition(const PartitionRequest& request);

/// Runs the record's blocks once, and the reference; the largest relative difference of an output.
double check_outputs(const PartitionRequest& request, const base::PartitionRecord& record);

}  // namespace hone::backend::partition
