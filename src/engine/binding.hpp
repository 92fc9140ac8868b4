// Inputs and outputs of a context, fixed in memory for any number of runs.
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

/// Used by the thread of its context. It keeps what the views own; its end waits for the runs under way.
class Binding {
 public:
  /// Hands one run over to the queue, which is one of the engine's place and null on the host: there the run
  /// is done when the call returns. Allocates nothing but outputs whose shape depends on data, and copies
  /// nothing but the inputs that are counted below.
  void run(const tensor::Queue* queue);
  /// Watches the runs that follow, as the executor's runs do; null where it cannot, and where a run has
  /// several groups of images.
  std::unique_ptr<DeviceWatch> watch();

  /// In graph order, also what the engine allocated. Outputs whose shape depends on data are those of the
  /// last run, undefined before it; they are on the host.
  const std::vector<tensor::TensorView>& inputs() const { return state_->inputs; }
  const std::vector<tensor::TensorView>& outputs() const { return state_->outputs; }
  /// True if the shape of this output depends on data.
  bool is_open(size_t output) const {
    return std::find(state_->open_outputs.begin(), state_->open_outputs.end(), output) !=
           state_->open_outputs.end();
  }
  /// Inputs that every run copies to row-major memory first, because no program reads them as they lie.
  size_t reordered_inputs() const { return state_->reordered.size(); }

 private:
  friend class Binder;

  /// Its parts end first, and wait for the work that needs the rest.
  struct State {
    std::shared_ptr<LoadedEngine> loaded;
    std::vector<tensor::TensorView> inputs;
    std::vector<tensor::TensorView> outputs;
    /// The memory to which inputs are copied.
    std::vector<tensor::Buffer> reordered;
    std::vector<size_t> open_outputs;
    bool inputs_are_ready = false;
    std::vector<std::shared_ptr<Execution>> executions;
    /// One for each group of images, most often one.
    std::vector<std::unique_ptr<BoundRuns>> parts;
  };

  explicit Binding(std::unique_ptr<State> state) : state_(std::move(state)) {}

  std::unique_ptr<State> state_;
};

/// Gives what runs inputs of these shapes, which lie in these layouts.
using FindExecution =
    std::function<std::shared_ptr<Execution>(const std::vector<Shape>&, const std::vector<Layout>&)>;

/// Usage error for a queue of another place than the device's.
void check_queue(const Device& device, const tensor::Queue* queue);

/// A kernel that copies the view to row-major memory; usage error where the device has none.
std::shared_ptr<const Kernel> strided_copy(const Device& device, const tensor::TensorView& view);

/// Inputs and outputs in graph order. An undefined output is allocated; one whose shape depends on data must
/// be. An input that is not row-major is read as it lies where a program can, else every run reorders it. Bad
/// input for types and shapes that the engine does not accept; usage error for memory that it cannot use: at
/// another place, of another size, read-only or strided outputs, and outputs in the memory of inputs that
/// were not declared so.
Binding make_binding(const std::shared_ptr<LoadedEngine>& loaded, const FindExecution& find,
                     std::span<const tensor::TensorView> inputs, std::span<const tensor::TensorView> outputs,
                     const BindOptions& options);

/// The errors of make_binding(), which it makes without aliases; nothing is allocated or made but programs.
void check_views(const std::shared_ptr<LoadedEngine>& loaded, const FindExecution& find,
                 std::span<const tensor::TensorView> inputs, std::span<const tensor::TensorView> outputs);

}  // namespace hone::engine
