// Faster ways than the reference kernels to compute nodes whose number of result rows depends on data. They
// are not tactics, which are asked for known shapes, and belong to no device: such steps run on the host,
// whatever the program's device is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace hone::engine {

/// Computes the outputs of a node from tensors in host memory, null where they are absent; bad input where it
/// does not take them.
using HostFunction = std::vector<tensor::Tensor> (*)(const graph::Node& node,
                                                     const std::vector<const tensor::Tensor*>& inputs);

/// The function for an operator, or null.
HostFunction find_host_function(std::string_view op);

/// A static object of it says what there is.
class HostFunctions {
 public:
  struct Entry {
    std::string op;
    HostFunction function;
  };
  explicit HostFunctions(const std::vector<Entry>& entries);
};

}  // namespace hone::engine
