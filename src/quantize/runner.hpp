// Runs a graph in float32 during calibration. Higher layers of the code provide the engine.
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
  /// Returns outputs for inputs, both in the graph's order. Bad input for an input that does not fit.
  virtual std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) = 0;
};

/// `example` holds inputs with which the graph will run. It is optimized for their sizes if the graph leaves
/// sizes open; other sizes still work.
using MakeRunner =
    std::function<std::unique_ptr<Runner>(const graph::Graph&, std::span<const tensor::Tensor> example)>;

/// Uses the reference implementation of every operator; for tests, and if nothing else is available.
std::unique_ptr<Runner> make_reference_runner(const graph::Graph& graph,
                                              std::span<const tensor::Tensor> example);

}  // namespace hone::quantize
