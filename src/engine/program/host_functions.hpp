// Faster implementations, compared with the reference kernels, of nodes whose number of result rows depends
// on data. They are not tactics, because tactics need known shapes, and they belong to no device, because
// such steps always run on the host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace hone::engine {

/// Computes the outputs of a node from tensors in host memory, which are null if absent; bad input for
/// tensors that it does not accept.
using HostFunction = std::vector<tensor::Tensor> (*)(const graph::Node& node,
                                                     const std::vector<const tensor::Tensor*>& inputs);

/// Returns the function for an operator, or null.
HostFunction find_host_function(std::string_view op);

/// A static object of this class registers functions.
class HostFunctions {
 public:
  struct Entry {
    std::string op;
    HostFunction function;
  };
  explicit HostFunctions(const std::vector<Entry>& entries);
};

}  // namespace hone::engine
