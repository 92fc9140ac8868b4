// The reference implementation: one plain kernel per operator, the oracle for every other one.
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

/// The inputs of a kernel and the outputs that it fills in. Kernels allocate their outputs themselves and
/// derive the output shape on their own, so that they also check the operator table's shape rules.
struct KernelContext {
  const graph::Node& node;
  /// Null where an optional input is absent.
  std::vector<const Tensor*> inputs;
  /// One per node output; kernels may leave an output that node.has_output() denies undefined.
  std::vector<Tensor> outputs;

  const graph::Attributes& attributes() const { return node.attributes; }
  bool has_input(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  const Tensor& input(size_t i) const;
  /// Allocates output i.
  Tensor& make_output(size_t i, DType dtype, Shape shape);
};

using Kernel = void (*)(KernelContext&);

using KernelEntry = graph::Implementation<Kernel>;

/// Null when the operator has none.
Kernel find_kernel(std::string_view op);

/// Runs the kernel of a node; bad input naming the node when it fails.
std::vector<Tensor> run_node(const graph::Node& node, std::vector<const Tensor*> inputs);

}  // namespace hone::reference
