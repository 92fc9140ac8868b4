// Descriptions of the nodes of a recorded graph, obtained from the driver.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <vector>

#include "base/device_record.hpp"
#include "device/cuda/plugin/captured_graph.hpp"

namespace hone::device::cuda {

struct NodeDescription {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::string kernel;  ///< mangled name; empty for other nodes
  base::DeviceLaunch launch;
  int64_t bytes = 0;  ///< for copies and fills
};

/// Describes a graph whose nodes form a chain, in their order; internal error for other graphs.
std::vector<NodeDescription> describe_chain(const Graph& graph);

/// Number of nodes that a stream has recorded so far.
size_t recorded_nodes(const Stream& stream);

/// The GPU with this number among the visible ones.
base::DeviceDescription describe_device(int ordinal);

}  // namespace hone::device::cuda
