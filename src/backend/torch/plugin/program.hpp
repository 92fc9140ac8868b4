// A graph as a list of ATen calls: what eager PyTorch executes, and what the tracer of TorchScript records.
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

/// The inputs and outputs of one step while it runs.
class Arguments {
 public:
  Arguments(std::vector<at::Tensor>& values, const graph::Node& node) : values_(values), node_(node) {}

  size_t size() const { return node_.inputs.size(); }
  bool has(size_t i) const { return node_.has_input(i); }
  const at::Tensor& operator[](size_t i) const { return values_[static_cast<size_t>(node_.inputs[i])]; }
  /// All inputs, for operators with any number of them.
  std::vector<at::Tensor> all() const;
  /// Ignored when the node does not have output i.
  void set(size_t i, at::Tensor value);

 private:
  std::vector<at::Tensor>& values_;
  const graph::Node& node_;
};

/// One node, ready to run: everything that can be decided at load is in the closure.
using Operation = std::function<void(Arguments&)>;

class Program {
 public:
  /// `bound` has known input shapes (bind.hpp). `traced`: the program will be recorded once and replayed, so
  /// what depends on the values of activations is refused. Bad input naming the node that cannot run.
  Program(std::shared_ptr<const graph::Graph> bound, const Placement& placement, std::string backend,
          bool traced);

  /// Outputs for inputs in graph order, all placed as the program is. Announces each node as a range of its
  /// name.
  std::vector<at::Tensor> run(std::vector<at::Tensor> inputs);

  const graph::Graph& graph() const { return *graph_; }
  /// Zeros of the inputs' shapes, placed.
  std::vector<at::Tensor> zero_inputs() const;
  /// One per node, under its name.
  std::vector<StepInfo> steps(const char* tactic) const;
  const Placement& placement() const { return placement_; }
  /// Element type in this program's precision.
  at::ScalarType scalar_type(tensor::DType dtype) const;
  int64_t weight_bytes() const { return weight_bytes_; }

 private:
  struct Step {
    const graph::Node* node;
    Operation operation;
    /// Activations that nobody reads after this step.
    std::vector<graph::ValueId> dying;
  };

  void load_constants();
  void find_last_readers();

  std::shared_ptr<const graph::Graph> graph_;
  Placement placement_;
  /// Constants stay; activations are there from their producer to their last reader.
  std::vector<at::Tensor> values_;
  std::vector<Step> steps_;
  int64_t weight_bytes_ = 0;
};

}  // namespace hone::backend::aten
