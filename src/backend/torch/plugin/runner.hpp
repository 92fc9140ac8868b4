// The forms in which the backends run a graph with bound input shapes: a program (eager), a script, or a
// captured CUDA graph.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "backend/torch/plugin/placement.hpp"
#include "graph/graph.hpp"

namespace hone::backend::aten {

class Runner {
 public:
  explicit Runner(const Placement& placement) : placement_(placement) {}
  virtual ~Runner() = default;

  /// Another runner with the same weights and its own inputs, for the current stream. Runs of both may
  /// overlap on a GPU, but one thread must submit them.
  virtual std::unique_ptr<Runner> share() const = 0;
  /// Copies inputs from the host, in graph order and in the model's own types, to the device of run().
  /// `pinned` means that they are in pinned memory and stay there until the run has ended.
  virtual void set_inputs(const std::vector<at::Tensor>& inputs, bool pinned) {
    inputs_.clear();
    for (const at::Tensor& input : inputs) inputs_.push_back(placement_.place(input, pinned));
  }
  /// Returns outputs, with the runner's placement, for the inputs
  /// that were set. On a GPU the work may still be in progress.
  virtual std::vector<at::Tensor> run() = 0;
  /// Milliseconds of a run from its first to its last step, by the GPU's clock; 0 on the CPU. With `cold`,
  /// the GPU's caches are emptied first.
  virtual double time_on_device(bool cold);
  virtual int64_t weight_bytes() const = 0;
  virtual std::vector<StepInfo> steps() const = 0;
  const Placement& placement() const { return placement_; }

 protected:
  const Placement placement_;
  std::vector<at::Tensor> inputs_;
};

using BoundGraph = std::shared_ptr<const graph::Graph>;
using MakeRunner = std::unique_ptr<Runner> (*)(BoundGraph graph, const Placement& placement);

/// Executes ATen calls in graph order.
std::unique_ptr<Runner> make_eager_runner(BoundGraph graph, const Placement& placement);
/// Traces the same calls, freezes and optimizes them, and runs them until the profiling executor is warm.
std::unique_ptr<Runner> make_script_runner(BoundGraph graph, const Placement& placement);

}  // namespace hone::backend::aten
