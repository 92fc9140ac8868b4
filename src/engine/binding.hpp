// Inputs and outputs of a context at fixed addresses, for any number of runs.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/loaded_engine.hpp"
#include "engine/program/execution.hpp"
#include "hone/binding.hpp"
#include "tensor/tensor_view.hpp"

namespace hone::engine {

using hone::Alias;
using hone::BindOptions;

/// Used by the thread of its context. It keeps the owners of the views alive, and its destruction waits for
/// runs in progress.
class Binding {
 public:
  /// Submits one run to the queue, which belongs to the engine's place and is null on the host; there, the
  /// run is finished when the call returns. It allocates only outputs whose shape depends on data, and copies
  /// only the inputs counted below.
  void run(const tensor::Queue* queue);
  /// Watches the following runs like a watch of the executor. Null if that is not possible, and if a run has
  /// several groups of images.
  std::unique_ptr<DeviceWatch> watch();

  /// In graph order, including outputs that the engine allocated. Outputs whose shape depends on data are on
  /// the host; they belong to the last run, and are undefined before it.
  const std::vector<tensor::TensorView>& inputs() const { return state_->inputs; }
  const std::vector<tensor::TensorView>& outputs() const { return state_->outputs; }
  /// True if the shape of this output depends on data.
  bool is_open(size_t output) const {
    return std::find(state_->open_outputs.begin(), state_->open_outputs.end(), output) !=
           state_->open_outputs.end();
  }
  /// Number of inputs that every run first copies to row-major memory, because no program can read their
  /// arrangement.
  size_t reordered_inputs() const { return state_->reordered.size(); }

 private:
  friend class Binder;

  /// `parts` are destroyed first, and wait for work that uses the other members.
  struct State {
    std::shared_ptr<LoadedEngine> loaded;
    std::vector<tensor::TensorView> inputs;
    std::vector<tensor::TensorView> outputs;
    /// The memory to which inputs are copied.
    std::vector<tensor::Buffer> reordered;
    std::vector<size_t> open_outputs;
    bool inputs_are_ready = false;
    std::vector<std::shared_ptr<Execution>> executions;
    /// One for each group of images, usually one.
    std::vector<std::unique_ptr<BoundRuns>> parts;
  };

  explicit Binding(std::unique_ptr<State> state) : state_(std::move(state)) {}

  std::unique_ptr<State> state_;
};

/// Returns the execution for inputs of these shapes in these layouts.
using FindExecution =
    std::function<std::shared_ptr<Execution>(const std::vector<Shape>&, const std::vector<Layout>&)>;

/// Usage error for a queue that belongs to another place than the device's.
void check_queue(const Device& device, const tensor::Queue* queue);

/// Returns a kernel that copies the view to row-major memory; usage error if the device has none.
std::shared_ptr<const Kernel> strided_copy(const Device& device, const tensor::TensorView& view);

/// Binds inputs and outputs in graph order. Undefined outputs are allocated; those whose shape depends on
/// data must be undefined. An input that is not row-major is read without a copy if a program can do that,
/// else every run reorders it. Bad input for types and shapes that the engine does not accept. Usage error
/// for memory that it cannot use: in another place or of another size; outputs that are read-only or strided;
/// and outputs in the memory of inputs without a declared alias.
Binding make_binding(const std::shared_ptr<LoadedEngine>& loaded, const FindExecution& find,
                     std::span<const tensor::TensorView> inputs, std::span<const tensor::TensorView> outputs,
                     const BindOptions& options);

/// Throws the errors of make_binding() without aliases. It creates programs, but allocates nothing else.
void check_views(const std::shared_ptr<LoadedEngine>& loaded, const FindExecution& find,
                 std::span<const tensor::TensorView> inputs, std::span<const tensor::TensorView> outputs);

}  // namespace hone::engine
