// The memory with which one thread runs an engine, for each shape that it has run.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/binding.hpp"
#include "engine/loaded_engine.hpp"
#include "engine/loose_bindings.hpp"
#include "engine/program/execution.hpp"

namespace hone::engine {

/// Used by one thread at a time; several contexts of one loaded engine may run concurrently.
class Context {
 public:
  explicit Context(std::shared_ptr<LoadedEngine> engine) : loaded_(std::move(engine)) {}
  /// Makes a context with its own loaded engine.
  Context(std::shared_ptr<const Engine> engine, const Device& device, int threads)
      : Context(std::make_shared<LoadedEngine>(std::move(engine), device, threads)) {}

  /// Returns outputs in graph order, in host memory. Bad input for an input whose type or shape the engine
  /// does not accept.
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs);

  /// Binds inputs and outputs for any number of runs, see make_binding().
  Binding bind(std::span<const tensor::TensorView> inputs, std::span<const tensor::TensorView> outputs,
               const BindOptions& options = {});
  /// Submits one run to a queue of the engine's place; without a queue, returns when the run is finished.
  /// Runs of a context are executed in order, even in different queues.
  void run(Binding& binding, const tensor::Queue* queue = nullptr);
  /// Runs views that were not bound. Views that were seen before or are among the first ones are used without
  /// a copy, others are copied; view_counts() counts both. Outputs whose shape depends on data must be
  /// undefined here; the engine allocates them. Returns all outputs, which the next run overwrites.
  const std::vector<tensor::TensorView>& run(std::span<const tensor::TensorView> inputs,
                                             std::span<const tensor::TensorView> outputs,
                                             const tensor::Queue* queue = nullptr);
  const ViewCounts& view_counts() const { return loose_.counts(); }

  /// Returns the execution for inputs of these shapes in these layouts, and compiles it if necessary. For
  /// batches above the engine's micro-batch, it runs one group.
  std::shared_ptr<Execution> execution(std::span<const Shape> shapes,
                                       const std::vector<Layout>& layouts = {});
  const Program& program(std::span<const Shape> shapes) { return execution(shapes)->program(); }

  const Engine& engine() const { return loaded_->engine(); }
  const Device& device() const { return loaded_->device(); }

 private:
  /// Number of executions that are kept; a new shape replaces the oldest one.
  static constexpr size_t kMaxExecutions = 16;

  struct Entry {
    std::vector<Shape> shapes;
    std::vector<Layout> layouts;
    std::shared_ptr<Execution> execution;
  };

  /// Checks types and shapes of the views, and returns the function that finds the execution for them.
  FindExecution finder(std::span<const tensor::TensorView> inputs);
  /// The given queue, or the context's own.
  const tensor::Queue* queue_for(const tensor::Queue* queue);
  void check_profile(std::span<const Shape> shapes) const;
  std::vector<tensor::Tensor> run_groups(std::span<const tensor::Tensor> inputs, int64_t batch,
                                         int64_t group);

  std::shared_ptr<LoadedEngine> loaded_;
  std::vector<Entry> executions_;
  /// The queue for runs without one; null until it is needed, and on the host.
  std::unique_ptr<tensor::Queue> queue_;
  LooseBindings loose_;
};

/// True if a batch may be split because its images are independent: all inputs and outputs share a symbolic
/// first dimension, and every operator in between keeps images apart.
bool splits_by_batch(const graph::Graph& graph);

}  // namespace hone::engine
