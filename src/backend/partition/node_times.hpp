// Times of nodes on a backend, measured: the model runs with as much of it as the backend takes there, and
// what its steps announce (base::Range) is shared out among the nodes that they stand for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/partition/costs.hpp"

namespace hone::backend::partition {

/// Times on one backend, microseconds.
struct NodeTimes {
  std::vector<double> node_us;  ///< one for each node; not known for those that it refuses
  BackendCost cost;
  /// Steps announced nothing, so the time of whole blocks was shared out by the cost model.
  bool shared_out = false;
};

struct Subject {
  std::string name;
  std::shared_ptr<const graph::Graph> graph;  ///< prepared
  const graph::Graph& typed;                  ///< the same with the shapes of the inputs
  const std::vector<std::string>& backends;
  LoadOptions options;
  const std::vector<tensor::Tensor>& inputs;
};

/// `blocks` of the whole model, those of `backend` being what is measured. A step's time is shared out in
/// proportion to the cost model's times of its nodes. The time of a block beyond its steps is measured on a
/// model of one element and, on the host, on one of 4 MB. On a GPU blocks are timed by its clock, and a
/// system's own profiler says only how a block's time is shared out. Errors of blocks as
/// PartitionedExecutable has them.
NodeTimes measure_nodes(const Subject& subject, const Blocks& blocks, int backend);

/// Latencies of several ways to run the model in milliseconds, taking turns, a list for each round.
struct Timed {
  std::vector<std::vector<double>> rounds_ms;
  std::vector<std::vector<double>> block_us;  ///< of each run
};
std::vector<Timed> measure_plans(const Subject& subject, const std::vector<Blocks>& plans);

}  // namespace hone::backend::partition
