// The cost of a partition: the times of each node on each backend, of each border, and of beginning a block.
// All searches here minimise the prediction for given blocks.
#pragma once

#include <span>
#include <vector>

#include "backend/partition/blocks.hpp"
#include "backend/partition/wiring.hpp"

namespace hone::backend::partition {

/// Costs in microseconds.
struct BackendCost {
  double launch_us = 0;  ///< for each block, in addition to its nodes and borders
  double input_us_per_byte = 0;
  double output_us_per_byte = 0;
  /// Added once to a run with such a block: on a GPU the host
  /// has to submit the first block and to wait for the last one.
  double wait_us = 0;
};

struct Costs {
  /// Indexed by backend and node; infinite if the backend does not accept the node.
  std::vector<std::vector<double>> node_us;
  std::vector<BackendCost> backends;

  size_t count() const { return backends.size(); }
  double node(int backend, size_t node) const { return node_us[static_cast<size_t>(backend)][node]; }
  bool takes(int backend, size_t node) const;
  bool takes_all(int backend, std::span<const int32_t> nodes) const;
  double input_us(int backend, double bytes) const {
    return bytes * backends[static_cast<size_t>(backend)].input_us_per_byte;
  }
  double output_us(int backend, double bytes) const {
    return bytes * backends[static_cast<size_t>(backend)].output_us_per_byte;
  }
};

/// A value that passes from one block to another; -1 is the caller.
struct Crossing {
  size_t flow = 0;
  int32_t from = -1;
  int32_t to = -1;
};
/// The values that enter and leave blocks, including those from and to the caller, in the order of the flows.
std::vector<Crossing> crossings(const Wiring& wiring, std::span<const Block> blocks);

struct Prediction {
  double nodes_us = 0;
  double borders_us = 0;
  double launches_us = 0;

  double total() const { return nodes_us + borders_us + launches_us; }
};

/// Only the longest wait of the backends counts. A block hands out each of its values once if another block
/// or the caller reads it, and every other block that reads a value takes it in once.
Prediction predict(const Wiring& wiring, const Costs& costs, std::span<const Block> blocks);

}  // namespace hone::backend::partition
