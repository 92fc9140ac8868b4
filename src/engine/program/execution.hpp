// A program, and the memory that it runs in.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/kernel.hpp"
#include "engine/program/executor.hpp"
#include "engine/program/program.hpp"
#include "tensor/tensor.hpp"

namespace hone::engine {

/// Used by one thread at a time; others may run the same program at the same time.
class Execution {
 public:
  /// The device outlives it.
  Execution(std::shared_ptr<const Program> program, const Device& device)
      : program_(std::move(program)), device_(device) {}

  /// Outputs in graph order for inputs in graph order; bad input when an input contradicts the graph.
  /// `step_times`, when given, receives microseconds per step.
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs,
                                  std::vector<double>* step_times = nullptr);
  /// The first third of run(): execute() and download() of the executor are the rest.
  void upload(std::span<const tensor::Tensor> inputs);
  /// Made when first asked for: a program that is only looked at takes no memory.
  Executor& executor();

  const Program& program() const { return *program_; }

 private:
  std::shared_ptr<const Program> program_;
  const Device& device_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace hone::engine
