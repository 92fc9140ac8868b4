// The reference implementation: one plain kernel per operator, against which all other implementations are
// checked.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "graph/implementation_table.hpp"
#include "tensor/tensor.hpp"

namespace hone::reference {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// The inputs of a kernel, and the outputs that it computes. Kernels allocate their outputs and derive the
/// output shapes themselves, so that they also check the shape rules of the operator table.
struct KernelContext {
  const graph::Node& node;
  /// Null if an optional input is absent.
  std::vector<const Tensor*> inputs;
  /// One per node output; kernels may leave an output undefined if node.has_output() is false for it.
  std::vector<Tensor> outputs;

  const graph::Attributes& attributes() const { return node.attributes; }
  bool has_input(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  const Tensor& input(size_t i) const;
  /// Allocates output i.
  Tensor& make_output(size_t i, DType dtype, Shape shape);
};

using Kernel = void (*)(KernelContext&);

using KernelEntry = graph::Implementation<Kernel>;

/// Null if the operator has no kernel.
Kernel find_kernel(std::string_view op);

/// Runs the kernel of a node; throws bad input that names the node if it fails.
std::vector<Tensor> run_node(const graph::Node& node, std::vector<const Tensor*> inputs);

}  // namespace hone::reference
