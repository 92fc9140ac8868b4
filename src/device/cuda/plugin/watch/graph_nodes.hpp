// Descriptions of the nodes of a recorded graph, asked of the driver.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <vector>

#include "base/device_record.hpp"
#include "device/cuda/plugin/captured_graph.hpp"

namespace hone::device::cuda {

struct NodeDescription {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::string kernel;  ///< mangled; empty for other nodes
  base::DeviceLaunch launch;
  int64_t bytes = 0;  ///< of copies and fills
};

/// Describes a graph whose nodes follow each other, in their order; an internal error for another one.
std::vector<NodeDescription> describe_chain(const Graph& graph);

/// Nodes that a stream has recorded so far.
size_t recorded_nodes(const Stream& stream);

/// The GPU of that number among the visible ones.
base::DeviceDescription describe_device(int ordinal);

}  // namespace hone::device::cuda
