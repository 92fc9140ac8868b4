// Runs on memory at fixed addresses: without copies and allocations.
//
//   hone::Context context = engine.make_context();             // one for each thread
//   hone::Buffer image = hone::allocate(engine.place(), bytes);
//   hone::Binding binding = context.bind({view of image}, {hone::TensorView()});
//   hone::Queue queue = hone::Queue::of_stream(engine.place(), stream);   // a cudaStream_t
//   context.run(binding, &queue);          // handed over; binding.outputs() are ready when it has passed
//
// The caller copies data to and from the host, with copy() or by other means.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hone/binding.hpp"
#include "hone/tensor.hpp"

namespace hone {

/// A queue of work at a place: a stream of a GPU. On the host, work is finished when a call returns.
class Queue {
 public:
  /// Makes a new queue. Environment error if the place is not available.
  explicit Queue(Place place);
  /// Wraps an existing stream, given by its handle (a cudaStream_t), which must outlive this queue and the
  /// work in it. Usage error on the host.
  static Queue of_stream(Place place, void* stream);
  /// Wraps the stream with a number of DLPack's `__dlpack__(stream=…)`: 1 is the legacy default stream, 2 the
  /// per-thread default stream, others are handles. Usage error for 0, which is ambiguous, and for negative
  /// numbers.
  static Queue of_dlpack_stream(Place place, int64_t number);

  ~Queue();
  Queue(Queue&&) noexcept;
  Queue& operator=(Queue&&) noexcept;

  Place place() const;
  /// Waits until all submitted work is finished.
  void synchronize() const;

 private:
  friend class Context;
  friend void copy(const TensorView&, const TensorView&, const Queue&);
  struct State;
  explicit Queue(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

/// Memory at a place; it is freed with the last copy of this object.
struct Buffer {
  Place place;
  std::byte* data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const void> owner;

  /// A tensor at the beginning of the memory, which it keeps alive.
  TensorView view(DataType type, Dims dims, Dims strides = {}) const;
};

/// Allocates uninitialized memory. Environment error if there is no room.
Buffer allocate(Place place, size_t bytes);

/// Copies a row-major tensor to another one with the same type and dims, within a place or between it and the
/// host. The copy is submitted to the queue, which must belong to the GPU if one is involved. Usage error for
/// other tensors.
void copy(const TensorView& from, const TensorView& to, const Queue& queue);

/// Inputs and outputs of a context at fixed addresses. Used by the context's thread. It keeps the owners of
/// the views alive until its runs are finished; its destruction waits for that.
class Binding {
 public:
  ~Binding();
  Binding(Binding&&) noexcept;
  Binding& operator=(Binding&&) noexcept;

  /// One for each of Engine::outputs(), including those whose memory the engine allocated. Outputs whose
  /// shape depends on data are on the host and hold the values of the last run.
  std::vector<TensorView> outputs() const;
  /// Number of inputs that every run copies first, because no kernel can read their strides.
  size_t reordered_inputs() const;

 private:
  friend class Context;
  struct State;
  explicit Binding(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

/// One thread's memory for running an engine, which it keeps alive. Contexts of one engine share its weights
/// and its programs, and may run concurrently. Usage error if a second thread calls bind() or run() of one
/// context at the same time.
class Context {
 public:
  ~Context();
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;

  /// Takes one view for each of Engine::inputs() and outputs(). An output without a tensor is allocated;
  /// outputs whose shape depends on data must be given so. Inputs may be strided: kernels read them directly
  /// if they can, else every run copies them (Binding::reordered_inputs). Prepares runs completely; on a GPU
  /// it captures them. Bad input for types and shapes that the engine does not accept. Usage error for memory
  /// that it cannot use: in another place, too small, strided or read-only outputs, and outputs in the memory
  /// of inputs that `options` does not name.
  Binding bind(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs,
               const BindOptions& options = {});
  /// Submits one run to the queue of the engine's place; without a queue, returns when the run is finished.
  /// Allocates and copies nothing, with the exceptions that Binding describes. Runs of a context are executed
  /// in order, even in different queues. If the stream is being captured, the run's kernels become part of
  /// the caller's graph, which must not run at the same time as the context; usage error if the host computes
  /// some steps.
  void run(Binding& binding, const Queue* queue = nullptr);
  /// Like run() above, for views that were not bound. The first views get bindings, which are used again for
  /// the same views; others are copied, and view_counts() counts the copies. Every output needs memory,
  /// except those whose shape depends on data. Returns all outputs.
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
