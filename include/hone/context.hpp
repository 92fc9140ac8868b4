// Runs on memory that stays where it is: no copy, no allocation.
//
//   hone::Context context = engine.make_context();             // one for each thread
//   hone::Buffer image = hone::allocate(engine.place(), bytes);
//   hone::Binding binding = context.bind({view of image}, {hone::TensorView()});
//   hone::Queue queue = hone::Queue::of_stream(engine.place(), stream);   // a cudaStream_t
//   context.run(binding, &queue);          // handed over; binding.outputs() are ready when it has passed
//
// Copies to and from the host are the caller's, by copy() or by other means.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hone/binding.hpp"
#include "hone/tensor.hpp"

namespace hone {

/// A queue of work at a place: a stream of a GPU. On the host work is done when a call returns.
class Queue {
 public:
  /// A new one. Environment error for a place that is not to be had.
  explicit Queue(Place place);
  /// A stream of somebody else's, by its handle (a cudaStream_t), which outlives this and what runs on it.
  /// Usage error on the host.
  static Queue of_stream(Place place, void* stream);
  /// The stream of a number in DLPack's `__dlpack__(stream=…)`: 1 the legacy default stream, 2 that of each
  /// thread, others a handle. Usage error for 0, which could be either, and for numbers below.
  static Queue of_dlpack_stream(Place place, int64_t number);

  ~Queue();
  Queue(Queue&&) noexcept;
  Queue& operator=(Queue&&) noexcept;

  Place place() const;
  /// Waits until everything that was handed over has run.
  void synchronize() const;

 private:
  friend class Context;
  friend void copy(const TensorView&, const TensorView&, const Queue&);
  struct State;
  explicit Queue(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

/// Memory at a place, freed with the last copy of this.
struct Buffer {
  Place place;
  std::byte* data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const void> owner;

  /// A tensor at its beginning, which keeps the memory.
  TensorView view(DataType type, Dims dims, Dims strides = {}) const;
};

/// Memory of any content. Environment error where there is no room.
Buffer allocate(Place place, size_t bytes);

/// Copies a row-major tensor to another of the same type and dims, between a place and itself or the host;
/// handed over to the queue, which is of a GPU if one of them is there. Usage error for other tensors.
void copy(const TensorView& from, const TensorView& to, const Queue& queue);

/// Inputs and outputs of a context, fixed in memory. Used by the context's thread. It keeps what the views
/// own, until what was run is done, for which its end waits.
class Binding {
 public:
  ~Binding();
  Binding(Binding&&) noexcept;
  Binding& operator=(Binding&&) noexcept;

  /// One for each of Engine::outputs(), also where the engine allocated the memory. Outputs whose shape
  /// depends on data are on the host and hold the last run's values.
  std::vector<TensorView> outputs() const;
  /// Inputs that every run copies first, since no kernel reads them with their strides.
  size_t reordered_inputs() const;

 private:
  friend class Context;
  struct State;
  explicit Binding(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

/// One thread's memory for running an engine, which it keeps alive; contexts of one engine share its weights
/// and what was prepared for a shape, and run at the same time. Usage error for a second thread that calls
/// bind() or run() of one context meanwhile.
class Context {
 public:
  ~Context();
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;

  /// One view for each of Engine::inputs() and outputs(). An output without a tensor is allocated, as one
  /// whose shape depends on data must be. Inputs may be strided: they are read as they lie where a kernel
  /// can, else every run copies them (Binding::reordered_inputs). Prepares everything for runs: on a GPU it
  /// captures them. Bad input for types and shapes that the engine does not accept, usage error for memory
  /// that it cannot use: at another place, too small, strided or read-only outputs, and outputs in the memory
  /// of inputs that `options` do not name.
  Binding bind(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs,
               const BindOptions& options = {});
  /// Hands one run over to the queue, of the engine's place; without one, returns when it is done. Allocates
  /// and copies nothing, except as Binding says. Runs of a context follow each other, whatever their queues.
  /// While a stream is captured by somebody, its graph gets the run's kernels, and may not run while the
  /// context does; usage error where the host computes some steps.
  void run(Binding& binding, const Queue* queue = nullptr);
  /// The same on views that nobody bound: the first that are seen get bindings, which they find again; others
  /// are copied, which view_counts() counts. Every output has memory, but those whose shape depends on data;
  /// gives all.
  std::vector<TensorView> run(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs,
                              const Queue* queue = nullptr);
  ViewCounts view_counts() const;

 private:
  friend class Engine;
  struct State;
  explicit Context(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace hone
