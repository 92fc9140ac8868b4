// See hone/sequence.hpp.
#include "api/sequence.hpp"

#include <algorithm>

#include "api/views.hpp"
#include "base/error.hpp"

namespace hone {

namespace {

/// The texts are allowed if they are those with which the engine was built.
void check_bound(const engine::Engine& engine, const engine::FixedCaches& caches,
                 const std::vector<std::string>& bind) {
  for (const engine::Carry& carry : engine::parse_carries(*engine.graph, bind)) {
    const auto is_carry = [&](const engine::Carry& cache) {
      return cache.input == carry.input && cache.output == carry.output;
    };
    if (std::none_of(caches.caches.begin(), caches.caches.end(), is_carry))
      fail_usage("the engine was built to bind its caches, and nothing else");
  }
}

}  // namespace

Sequence::State::State(const std::shared_ptr<engine::LoadedEngine>& loaded,
                       const std::vector<TensorInfo>& all_inputs, const std::vector<TensorInfo>& all_outputs,
                       const std::vector<std::string>& bind)
    : context(loaded) {
  if (auto caches = engine::fixed_caches_of(loaded->engine())) {
    check_bound(loaded->engine(), *caches, bind);
    fixed = std::make_unique<engine::FixedCacheRuns>(loaded, std::move(*caches));
  } else {
    const graph::Graph& graph = *loaded->engine().graph;
    carried = std::make_unique<engine::CarriedRuns>(graph, engine::parse_carries(graph, bind));
  }
  for (size_t i = 0; i < all_inputs.size(); ++i) {
    if (!is_bound_input(i)) inputs.push_back(all_inputs[i]);
  }
  for (size_t i = 0; i < all_outputs.size(); ++i) {
    if (!is_bound_output(i)) outputs.push_back(all_outputs[i]);
  }
}

bool Sequence::State::is_bound_input(size_t input) const {
  return fixed != nullptr ? fixed->is_own_input(input) : carried->is_carried_input(input);
}

bool Sequence::State::is_bound_output(size_t output) const {
  return fixed != nullptr ? fixed->is_cache_output(output) : carried->is_carried_output(output);
}

size_t Sequence::State::bound_input(const std::string& name) const {
  if (fixed != nullptr) fail_usage("the engine keeps its caches to itself: it was built to bind them");
  const graph::Graph& graph = *context.engine().graph;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    if (carried->is_carried_input(i) && graph.value(graph.inputs[i]).name == name) return i;
  }
  fail_usage("no input named '{}' is bound", name);
}

Sequence::Sequence(std::unique_ptr<State> state) : state_(std::move(state)) {}
Sequence::~Sequence() = default;
Sequence::Sequence(Sequence&&) noexcept = default;
Sequence& Sequence::operator=(Sequence&&) noexcept = default;

const std::vector<TensorInfo>& Sequence::inputs() const { return state_->inputs; }
const std::vector<TensorInfo>& Sequence::outputs() const { return state_->outputs; }

std::vector<Tensor> Sequence::run(const std::vector<TensorView>& inputs) {
  const auto use = state_->user.use("sequence");
  if (inputs.size() != state_->inputs.size())
    fail_bad_input("{} inputs, {} are not bound", inputs.size(), state_->inputs.size());
  std::vector<tensor::Tensor> all(state_->context.engine().graph->inputs.size());
  size_t next = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!state_->is_bound_input(i)) all[i] = api::inner_tensor(inputs[next++]);
  }
  std::vector<tensor::Tensor> results =
      state_->fixed != nullptr
          ? state_->fixed->run(all)
          : state_->carried->run(all, [&](auto complete) { return state_->context.run(complete); });
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!state_->is_bound_output(i)) outputs.push_back(api::outer_tensor(std::move(results[i])));
  }
  return outputs;
}

void Sequence::set(const std::string& input, const TensorView& value) {
  const size_t index = state_->bound_input(input);
  state_->carried->set(index, api::inner_tensor(value).clone());
}

Tensor Sequence::state(const std::string& input) const {
  const size_t index = state_->bound_input(input);
  const tensor::Tensor& state = state_->carried->state_of_input(index);
  if (!state.defined()) return {};
  return api::outer_tensor(state);
}

void Sequence::reset() {
  if (state_->fixed != nullptr) return state_->fixed->reset();
  state_->carried->reset();
}

}  // namespace hone
