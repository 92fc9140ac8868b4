// Measured times of nodes on a backend. All nodes that the backend accepts run on it, and the times that its
// steps announce (base::Range) are divided among the nodes of these steps.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/partition/costs.hpp"

namespace hone::backend::partition {

/// Times on one backend, in microseconds.
struct NodeTimes {
  std::vector<double> node_us;  ///< one for each node; unknown for nodes that it refuses
  BackendCost cost;
  /// True if steps announced nothing, so that the time of whole blocks was divided by the cost model.
  bool shared_out = false;
};

struct Subject {
  std::string name;
  std::shared_ptr<const graph::Graph> graph;  ///< prepared
  const graph::Graph& typed;                  ///< the same graph with the shapes of the inputs
  const std::vector<std::string>& backends;
  LoadOptions options;
  const std::vector<tensor::Tensor>& inputs;
};

/// `blocks` are those of the whole model; only blocks of `backend` are measured. A step's time is divided in
/// proportion to the cost model's times of its nodes. The time of a block in addition to its steps is
/// measured on a model with one element and, on the host, also on one with 4 MB. On a GPU, blocks are timed
/// by its clock, and a system's own profiler only gives the proportions within a block. Errors of blocks are
/// those of PartitionedExecutable.
NodeTimes measure_nodes(const Subject& subject, const Blocks& blocks, int backend);

/// Milliseconds of several ways to run the model; they take turns, and each round has a list.
struct Timed {
  std::vector<std::vector<double>> rounds_ms;
  std::vector<std::vector<double>> block_us;  ///< for each run
};
std::vector<Timed> measure_plans(const Subject& subject, const std::vector<Blocks>& plans);

}  // namespace hone::backend::partition
