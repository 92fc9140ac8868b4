// See loose_bindings.hpp.
#include "engine/loose_bindings.hpp"

#include <algorithm>
#include <utility>

namespace hone::engine {

using tensor::Queue;
using tensor::TensorView;

namespace {

bool is_same(const TensorView& a, const TensorView& b) {
  return a.data() == b.data() && a.buffer.place == b.buffer.place && a.dtype == b.dtype &&
         a.shape == b.shape && a.strides == b.strides && a.read_only == b.read_only;
}

/// A binding outlives the call for which the views are valid: their memory may later belong to another owner,
/// who may pass it again.
std::vector<TensorView> without_owners(std::span<const TensorView> views) {
  std::vector<TensorView> result(views.begin(), views.end());
  for (TensorView& view : result) {
    view.buffer.owner = nullptr;
    view.buffer.ready = nullptr;
  }
  return result;
}

/// Outputs without given memory are refused, because the next run would overwrite the results.
void check_outputs(const graph::Graph& graph, std::span<const TensorView> given, const Binding& binding) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i].defined() && !binding.is_open(i))
      fail_usage("output '{}' is given no memory: only a binding has it allocated",
                 graph.value(graph.outputs[i]).name);
  }
}

void wait_for(std::span<const TensorView> inputs, const Queue* queue) {
  for (const TensorView& input : inputs) {
    if (input.buffer.ready == nullptr) continue;
    queue == nullptr ? input.buffer.ready->wait() : queue->wait(*input.buffer.ready);
  }
}

}  // namespace

ViewsInUse::~ViewsInUse() {
  if (passed_ == nullptr) return;
  try {
    passed_->wait();
  } catch (const Error&) {
    // Errors are ignored here: a failed GPU no longer uses the memory, and the next call reports the failure.
  }
}

const std::vector<TensorView>& LooseBindings::run(const std::shared_ptr<LoadedEngine>& loaded,
                                                  const std::function<FindExecution()>& check,
                                                  std::span<const TensorView> inputs,
                                                  std::span<const TensorView> outputs, const Queue* queue) {
  check_queue(loaded->device(), queue);
  while (!in_use_.empty() && in_use_.front().has_passed()) in_use_.pop_front();
  wait_for(inputs, queue);
  Binding* bound = find(inputs, outputs);
  if (bound != nullptr) {
    bound->run(queue);
    keep(inputs, outputs, queue);
    return bound->outputs();
  }
  if (queue != nullptr && queue->is_capturing())
    fail_usage(
        "a run on views that this context has not bound cannot be captured in a CUDA graph: bind them, and "
        "run "
        "the binding");
  const FindExecution found = check();
  const graph::Graph& graph = *loaded->engine().graph;
  if (entries_.size() < kMaxBindings) {
    std::vector<TensorView> seen = without_owners(inputs);
    std::vector<TensorView> made = without_owners(outputs);
    Binding binding = make_binding(loaded, found, seen, made, {});
    check_outputs(graph, outputs, binding);
    entries_.push_back({std::move(seen), std::move(made), std::move(binding)});
    ++counts_.bindings;
    entries_.back().binding.run(queue);
    keep(inputs, outputs, queue);
    return entries_.back().binding.outputs();
  }
  check_views(loaded, found, inputs, outputs);
  Binding& staged = staging(loaded, found, inputs);
  check_outputs(graph, outputs, staged);
  copy_in(loaded->device(), staged, inputs, queue);
  staged.run(queue);
  copy_out(loaded->device(), staged, outputs, queue);
  keep(inputs, outputs, queue);
  return copied_outputs_;
}

Binding* LooseBindings::find(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  for (Entry& entry : entries_) {
    if (std::ranges::equal(entry.inputs, inputs, is_same) &&
        std::ranges::equal(entry.outputs, outputs, is_same))
      return &entry.binding;
  }
  return nullptr;
}

Binding& LooseBindings::staging(const std::shared_ptr<LoadedEngine>& loaded, const FindExecution& find,
                                std::span<const TensorView> inputs) {
  const auto same_shape = [](const TensorView& a, const TensorView& b) { return a.shape == b.shape; };
  for (Binding& known : stagings_) {
    if (std::ranges::equal(known.inputs(), inputs, same_shape)) return known;
  }
  std::vector<TensorView> views;
  for (const TensorView& input : inputs) {
    TensorView view{.dtype = input.dtype, .shape = input.shape};
    view.buffer = loaded->device().allocate(TensorDesc{input.dtype, input.shape, Layout::kPlain}.bytes());
    views.push_back(std::move(view));
  }
  const std::vector<TensorView> outputs(loaded->engine().graph->outputs.size());
  Binding made = make_binding(loaded, find, views, outputs, {});
  if (stagings_.size() == kMaxStagings) stagings_.erase(stagings_.begin());
  stagings_.push_back(std::move(made));
  return stagings_.back();
}

void LooseBindings::copy_in(const Device& device, const Binding& staging, std::span<const TensorView> inputs,
                            const Queue* queue) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const void* from = inputs[i].data();
    void* to = staging.inputs()[i].data();
    strided_copy(device, inputs[i])->run({.inputs = {&from, 1}, .outputs = {&to, 1}, .queue = queue});
    count_copy(staging.inputs()[i].buffer.bytes);
  }
}

void LooseBindings::copy_out(const Device& device, const Binding& staging,
                             std::span<const TensorView> outputs, const Queue* queue) {
  copied_outputs_.assign(outputs.begin(), outputs.end());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined()) {
      copied_outputs_[i] = staging.outputs()[i];
      continue;
    }
    device.copy(staging.outputs()[i].buffer, outputs[i].buffer, queue);
    count_copy(staging.outputs()[i].buffer.bytes);
  }
}

void LooseBindings::keep(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                         const Queue* queue) {
  if (queue == nullptr || queue->is_capturing()) return;
  std::vector<std::shared_ptr<const void>> owners;
  for (const auto& views : {inputs, outputs}) {
    for (const TensorView& view : views) {
      if (view.buffer.owner != nullptr) owners.push_back(view.buffer.owner);
    }
  }
  if (!owners.empty()) in_use_.emplace_back(queue->record(), std::move(owners));
}

void LooseBindings::count_copy(int64_t bytes) {
  ++counts_.copies;
  counts_.copied_bytes += bytes;
}

}  // namespace hone::engine
