// Runs a step that takes and returns whole tensors: a step with shapes that become known only at run time, or
// one that runs subgraphs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/kernel.hpp"
#include "tensor/tensor.hpp"

namespace hone::engine {

class Program;

/// A program that a step runs as often as the data require.
struct SubgraphProgram {
  /// Index among the node's subgraphs; keys of its steps contain it after the key of the node.
  int32_t index = 0;
  /// The attribute that contains its graph.
  std::string attribute;
  std::shared_ptr<const Program> program;
};

/// Bound to a node when it is made, and never changed afterwards: several threads may run it at the same
/// time, each with its own state.
class NodeKernel {
 public:
  virtual ~NodeKernel() = default;
  /// Returns the outputs of the node for these tensors in host memory, which are null if absent. The results
  /// may share memory with the inputs. Bad input for tensors that the node does not accept.
  virtual std::vector<tensor::Tensor> run(const std::vector<const tensor::Tensor*>& inputs,
                                          KernelState& state) const = 0;
  virtual std::unique_ptr<KernelState> make_state() const = 0;
  virtual std::vector<SubgraphProgram> programs() const { return {}; }
};

}  // namespace hone::engine
