// Runs a step that hands over whole tensors: values whose shapes are only known when a program runs, and
// nodes that run subgraphs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/kernel.hpp"
#include "tensor/tensor.hpp"

namespace hone::engine {

class Program;

/// A program that a step runs as often as data say.
struct SubgraphProgram {
  /// Among the node's subgraphs: what keys of its steps have after that of the node.
  int32_t index = 0;
  /// The attribute that holds its graph.
  std::string attribute;
  std::shared_ptr<const Program> program;
};

/// Bound to a node when it was made, and never changed after: several threads may run it at the same time,
/// each with a state of its own.
class NodeKernel {
 public:
  virtual ~NodeKernel() = default;
  /// Outputs of the node for these tensors in host memory, null where they are absent. The returned tensors
  /// may share the inputs' bytes. Bad input where the node does not take them.
  virtual std::vector<tensor::Tensor> run(const std::vector<const tensor::Tensor*>& inputs,
                                          KernelState& state) const = 0;
  virtual std::unique_ptr<KernelState> make_state() const = 0;
  virtual std::vector<SubgraphProgram> programs() const { return {}; }
};

}  // namespace hone::engine
