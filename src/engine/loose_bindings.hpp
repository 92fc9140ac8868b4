// Runs on views that nobody bound: the first ones seen get bindings, which the same views find again; all
// others are copied to and from memory of the engine's own, and the copies are counted.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/binding.hpp"

namespace hone::engine {

using hone::ViewCounts;

/// Keeps the memory of views until work on it has passed; its end waits for that.
class ViewsInUse {
 public:
  ViewsInUse(std::shared_ptr<const tensor::Event> passed, std::vector<std::shared_ptr<const void>> owners)
      : passed_(std::move(passed)), owners_(std::move(owners)) {}
  ViewsInUse(ViewsInUse&&) noexcept = default;
  ViewsInUse& operator=(ViewsInUse&&) = delete;
  ~ViewsInUse();
  bool has_passed() const { return passed_->has_passed(); }

 private:
  std::shared_ptr<const tensor::Event> passed_;
  std::vector<std::shared_ptr<const void>> owners_;
};

class LooseBindings {
 public:
  /// Hands one run over to the queue, null on the host. Outputs in graph order, valid until the next run;
  /// `check` says what is wrong with the inputs' types and shapes, or gives what runs them. Owners of views
  /// are kept until the run has passed; those of a run that is captured have to outlive the graph. Usage
  /// error for a queue that is captured and views that have no binding yet.
  const std::vector<tensor::TensorView>& run(const std::shared_ptr<LoadedEngine>& loaded,
                                             const std::function<FindExecution()>& check,
                                             std::span<const tensor::TensorView> inputs,
                                             std::span<const tensor::TensorView> outputs,
                                             const tensor::Queue* queue);
  const ViewCounts& counts() const { return counts_; }

 private:
  /// Each holds a captured graph on some devices.
  static constexpr size_t kMaxBindings = 8;
  /// At most this many sets of buffers for other shapes; the oldest makes room.
  static constexpr size_t kMaxStagings = 2;

  struct Entry {
    std::vector<tensor::TensorView> inputs;
    std::vector<tensor::TensorView> outputs;
    Binding binding;
  };

  Binding* find(std::span<const tensor::TensorView> inputs, std::span<const tensor::TensorView> outputs);
  /// One with memory of the engine's for inputs and outputs of these shapes.
  Binding& staging(const std::shared_ptr<LoadedEngine>& loaded, const FindExecution& find,
                   std::span<const tensor::TensorView> inputs);
  void copy_in(const Device& device, const Binding& staging, std::span<const tensor::TensorView> inputs,
               const tensor::Queue* queue);
  void copy_out(const Device& device, const Binding& staging, std::span<const tensor::TensorView> outputs,
                const tensor::Queue* queue);
  void count_copy(int64_t bytes);
  /// Keeps the views until the queue has passed this moment.
  void keep(std::span<const tensor::TensorView> inputs, std::span<const tensor::TensorView> outputs,
            const tensor::Queue* queue);

  std::vector<Entry> entries_;
  std::vector<Binding> stagings_;
  /// The outputs of the last run that copied.
  std::vector<tensor::TensorView> copied_outputs_;
  ViewCounts counts_;
  std::deque<ViewsInUse> in_use_;
};

}  // namespace hone::engine
