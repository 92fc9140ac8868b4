// The memory with which one thread runs an engine, for each shape that it has met.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/binding.hpp"
#include "engine/loaded_engine.hpp"
#include "engine/loose_bindings.hpp"
#include "engine/program/execution.hpp"

namespace hone::engine {

/// Used by one thread at a time; contexts of one loaded engine run at the same time.
class Context {
 public:
  explicit Context(std::shared_ptr<LoadedEngine> engine) : loaded_(std::move(engine)) {}
  /// Makes a context with a loaded engine of its own.
  Context(std::shared_ptr<const Engine> engine, const Device& device, int threads)
      : Context(std::make_shared<LoadedEngine>(std::move(engine), device, threads)) {}

  /// Outputs in graph order, on the host. Bad input when an input's type or shape is outside what the engine
  /// accepts.
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs);

  /// Fixes inputs and outputs for any number of runs, as make_binding() has it.
  Binding bind(std::span<const tensor::TensorView> inputs, std::span<const tensor::TensorView> outputs,
               const BindOptions& options = {});
  /// Hands one run over to a queue of the engine's place; without one, returns when it is done. Runs of a
  /// context follow each other, whatever the queues.
  void run(Binding& binding, const tensor::Queue* queue = nullptr);
  /// Runs views that are not bound: they stay in place if they have been seen before or are among the first,
  /// else they are copied; view_counts() counts both. Outputs whose shape depends on data are undefined here;
  /// the engine allocates them, and returns them among all outputs, which the next run changes.
  const std::vector<tensor::TensorView>& run(std::span<const tensor::TensorView> inputs,
                                             std::span<const tensor::TensorView> outputs,
                                             const tensor::Queue* queue = nullptr);
  const ViewCounts& view_counts() const { return loose_.counts(); }

  /// Returns the execution for inputs of these shapes in these layouts, compiled now if need be. It runs one
  /// group for batches above the engine's micro-batch.
  std::shared_ptr<Execution> execution(std::span<const Shape> shapes,
                                       const std::vector<Layout>& layouts = {});
  const Program& program(std::span<const Shape> shapes) { return execution(shapes)->program(); }

  const Engine& engine() const { return loaded_->engine(); }
  const Device& device() const { return loaded_->device(); }

 private:
  /// Executions kept; the oldest makes room for a new shape.
  static constexpr size_t kMaxExecutions = 16;

  struct Entry {
    std::vector<Shape> shapes;
    std::vector<Layout> layouts;
    std::shared_ptr<Execution> execution;
  };

  /// Returns the function that finds the execution for the views, after a check of their types and shapes.
  FindExecution finder(std::span<const tensor::TensorView> inputs);
  /// The queue, or the context's own.
  const tensor::Queue* queue_for(const tensor::Queue* queue);
  void check_profile(std::span<const Shape> shapes) const;
  std::vector<tensor::Tensor> run_groups(std::span<const tensor::Tensor> inputs, int64_t batch,
                                         int64_t group);

  std::shared_ptr<LoadedEngine> loaded_;
  std::vector<Entry> executions_;
  /// The queue of runs without one; null until then, and on the host.
  std::unique_ptr<tensor::Queue> queue_;
  LooseBindings loose_;
};

/// True if each image of a batch is computed without the others, so that a batch may be split: all inputs and
/// outputs share a symbolic first dimension and every operator in between keeps images apart.
bool splits_by_batch(const graph::Graph& graph);

}  // namespace hone::engine
