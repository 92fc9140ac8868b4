// Runs a graph in float32 while it is calibrated. The folders above bring the engine.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace hone::quantize {

class Runner {
 public:
  virtual ~Runner() = default;
  /// Outputs for inputs, both in the graph's order. Bad input where an input does not fit.
  virtual std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) = 0;
};

/// `example`: inputs that it will be run with, whose sizes it is made for where the graph leaves them open;
/// others still run.
using MakeRunner =
    std::function<std::unique_ptr<Runner>(const graph::Graph&, std::span<const tensor::Tensor> example)>;

/// The plain implementation of every operator, for tests and where nothing else can be had.
std::unique_ptr<Runner> make_reference_runner(const graph::Graph& graph,
                                              std::span<const tensor::Tensor> example);

}  // namespace hone::quantize
