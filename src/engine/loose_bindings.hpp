// Runs on views that were not bound. The first views get bindings, which are used again for the same views;
// other views are copied to and from the engine's own memory, and the copies are counted.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/binding.hpp"

namespace hone::engine {

using hone::ViewCounts;

/// Keeps the memory of views alive until the work on it is finished; its destruction waits for that.
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
  /// Submits one run to the queue, which is null on the host. Returns outputs in graph order, valid until the
  /// next run. `check` throws if the inputs' types or shapes are wrong, else it returns the function that
  /// finds executions. Owners of views are kept until the run is finished; those of a captured run must
  /// outlive the captured graph. Usage error for a captured queue with views that have no binding yet.
  const std::vector<tensor::TensorView>& run(const std::shared_ptr<LoadedEngine>& loaded,
                                             const std::function<FindExecution()>& check,
                                             std::span<const tensor::TensorView> inputs,
                                             std::span<const tensor::TensorView> outputs,
                                             const tensor::Queue* queue);
  const ViewCounts& counts() const { return counts_; }

 private:
  /// A limit, because each holds a captured graph on some devices.
  static constexpr size_t kMaxBindings = 8;
  /// Limit on the sets of buffers for other shapes; a new one replaces the oldest one.
  static constexpr size_t kMaxStagings = 2;

  struct Entry {
    std::vector<tensor::TensorView> inputs;
    std::vector<tensor::TensorView> outputs;
    Binding binding;
  };

  Binding* find(std::span<const tensor::TensorView> inputs, std::span<const tensor::TensorView> outputs);
  /// Returns a binding with the engine's own memory for inputs and outputs of these shapes.
  Binding& staging(const std::shared_ptr<LoadedEngine>& loaded, const FindExecution& find,
                   std::span<const tensor::TensorView> inputs);
  void copy_in(const Device& device, const Binding& staging, std::span<const tensor::TensorView> inputs,
               const tensor::Queue* queue);
  void copy_out(const Device& device, const Binding& staging, std::span<const tensor::TensorView> outputs,
                const tensor::Queue* queue);
  void count_copy(int64_t bytes);
  /// Keeps the views alive until the queue has finished its current work.
  void keep(std::span<const tensor::TensorView> inputs, std::span<const tensor::TensorView> outputs,
            const tensor::Queue* queue);

  std::vector<Entry> entries_;
  std::vector<Binding> stagings_;
  /// The outputs of the last run that was copied.
  std::vector<tensor::TensorView> copied_outputs_;
  ViewCounts counts_;
  std::deque<ViewsInUse> in_use_;
};

}  // namespace hone::engine
