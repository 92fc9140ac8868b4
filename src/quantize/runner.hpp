// What runs a graph in float32 while it is calibrated. The folders above bring the engine.
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

using MakeRunner = std::function<std::unique_ptr<Runner>(const graph::Graph&)>;

/// The plain implementation of every operator, for tests and where nothing else can be had.
std::unique_ptr<Runner> make_reference_runner(const graph::Graph& graph);

}  // namespace hone::quantize
