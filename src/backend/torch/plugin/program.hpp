// A graph as a list of ATen calls, which eager PyTorch executes and TorchScript's tracer records.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/torch/plugin/placement.hpp"
#include "graph/graph.hpp"

namespace hone::backend::aten {

/// The inputs and outputs of one step during its run.
class Arguments {
 public:
  Arguments(std::vector<at::Tensor>& values, const graph::Node& node) : values_(values), node_(node) {}

  size_t size() const { return node_.inputs.size(); }
  bool has(size_t i) const { return node_.has_input(i); }
  const at::Tensor& operator[](size_t i) const { return values_[static_cast<size_t>(node_.inputs[i])]; }
  /// All inputs, for operators with any number of them.
  std::vector<at::Tensor> all() const;
  /// Does nothing if the node does not have output i.
  void set(size_t i, at::Tensor value);

 private:
  std::vector<at::Tensor>& values_;
  const graph::Node& node_;
};

/// One node, ready to run: the closure contains everything that is decided at load.
using Operation = std::function<void(Arguments&)>;

class Program {
 public:
  /// `bound` has known input shapes (bind.hpp). `traced` means that the program will be recorded once and
  /// replayed, so operations that depend on the values of activations are refused. Bad input, naming the
  /// node, if one cannot run.
  Program(std::shared_ptr<const graph::Graph> bound, const Placement& placement, std::string backend,
          bool traced);

  /// Returns outputs for inputs in graph order; all have the program's placement. Announces each node as a
  /// range with its name.
  std::vector<at::Tensor> run(std::vector<at::Tensor> inputs);

  const graph::Graph& graph() const { return *graph_; }
  /// Zeros in the shapes of the inputs, with the program's placement.
  std::vector<at::Tensor> zero_inputs() const;
  /// One for each node, with its name.
  std::vector<StepInfo> steps(const char* tactic) const;
  const Placement& placement() const { return placement_; }
  /// Element type in this program's precision.
  at::ScalarType scalar_type(tensor::DType dtype) const;
  int64_t weight_bytes() const { return weight_bytes_; }

 private:
  struct Step {
    const graph::Node* node;
    Operation operation;
    /// Activations that no later step reads.
    std::vector<graph::ValueId> dying;
  };

  void load_constants();
  void find_last_readers();

  std::shared_ptr<const graph::Graph> graph_;
  Placement placement_;
  /// Constants stay; activations exist from their producer to their last reader.
  std::vector<at::Tensor> values_;
  std::vector<Step> steps_;
  int64_t weight_bytes_ = 0;
};

}  // namespace hone::backend::aten
