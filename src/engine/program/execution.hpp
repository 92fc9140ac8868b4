// A program and the memory in which it runs.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/kernel.hpp"
#include "engine/program/executor.hpp"
#include "engine/program/program.hpp"
#include "tensor/tensor.hpp"

namespace hone::engine {

/// Used by one thread at a time; other executions may run the same program at the same time.
class Execution {
 public:
  /// The device must outlive it.
  Execution(std::shared_ptr<const Program> program, const Device& device)
      : program_(std::move(program)), device_(device) {}

  /// Returns outputs in graph order for inputs in graph order; bad input for an input that contradicts the
  /// graph. If `step_times` is given, it receives microseconds per step.
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs,
                                  std::vector<double>* step_times = nullptr);
  /// The first of three parts of run(); the others are execute() and download() of the executor.
  void upload(std::span<const tensor::Tensor> inputs);
  /// Created on first use, so that a program that never runs takes no memory.
  Executor& executor();

  const Program& program() const { return *program_; }

 private:
  std::shared_ptr<const Program> program_;
  const Device& device_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace hone::engine
