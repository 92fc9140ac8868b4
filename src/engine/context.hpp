// What one thread runs an engine with: for each shape it met the memory that the program of that shape runs
// in.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/loaded_engine.hpp"
#include "engine/program/execution.hpp"

namespace hone::engine {

/// Used by one thread at a time; contexts of one loaded engine run at the same time.
class Context {
 public:
  explicit Context(std::shared_ptr<LoadedEngine> engine) : loaded_(std::move(engine)) {}
  /// Of a loaded engine that no other context shares.
  Context(std::shared_ptr<const Engine> engine, const Device& device, int threads)
      : Context(std::make_shared<LoadedEngine>(std::move(engine), device, threads)) {}

  /// Outputs in graph order. Bad input when an input's type or shape is outside what the engine accepts.
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs);

  /// What runs inputs of these shapes, compiled now if need be. For batches above the engine's micro-batch it
  /// runs one group.
  Execution& execution(std::span<const Shape> shapes);
  const Program& program(std::span<const Shape> shapes) { return execution(shapes).program(); }

  const Engine& engine() const { return loaded_->engine(); }

 private:
  /// Executions kept; the oldest makes room for a new shape.
  static constexpr size_t kMaxExecutions = 16;

  void check_profile(std::span<const tensor::Tensor> inputs) const;
  std::vector<tensor::Tensor> run_groups(std::span<const tensor::Tensor> inputs, int64_t batch,
                                         int64_t group);

  std::shared_ptr<LoadedEngine> loaded_;
  std::vector<std::pair<std::vector<Shape>, std::unique_ptr<Execution>>> executions_;
};

/// Whether every image of a batch is computed without the others, so that a batch may be split: all inputs
/// and outputs share a symbolic first dimension and every operator in between keeps images apart.
bool splits_by_batch(const graph::Graph& graph);

}  // namespace hone::engine
