// What the two backends make of a graph that is bound to input shapes: a program (eager) or a script.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "graph/graph.hpp"

namespace hone::backend::aten {

class Runner {
 public:
  virtual ~Runner() = default;
  /// Outputs for inputs in graph order, both in the runner's own precision.
  virtual std::vector<at::Tensor> run(std::vector<at::Tensor> inputs) = 0;
  virtual int64_t weight_bytes() const = 0;
  virtual std::vector<StepInfo> steps() const = 0;
};

using BoundGraph = std::shared_ptr<const graph::Graph>;
using MakeRunner = std::unique_ptr<Runner> (*)(BoundGraph graph, Precision precision);

/// ATen calls in graph order.
std::unique_ptr<Runner> make_eager_runner(BoundGraph graph, Precision precision);
/// The same calls traced, frozen, optimized for inference, and run until the profiling executor is warm.
std::unique_ptr<Runner> make_script_runner(BoundGraph graph, Precision precision);

}  // namespace hone::backend::aten
