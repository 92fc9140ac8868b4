// Consecutive runs in which outputs become inputs: a decoder with its cache, a recurrent network with its
// state.
//
//   hone::Engine engine = hone::Engine::build("gpt2");
//   hone::Sequence decoder = engine.make_sequence({"past_key_values.*=present.*"});
//   auto outputs = decoder.run({{std::span<const int64_t>(prompt), {1, 5}}});
//   outputs = decoder.run({{std::span<const int64_t>(token), {1, 1}}});   // the sixth token
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hone/tensor.hpp"

namespace hone {

/// Used by one thread at a time; a concurrent call of run() is a usage error. It keeps the engine's weights
/// alive, and may outlive the engine.
class Sequence {
 public:
  ~Sequence();
  Sequence(Sequence&&) noexcept;
  Sequence& operator=(Sequence&&) noexcept;

  /// Inputs that run() takes: all except the bound ones, in the engine's order.
  const std::vector<TensorInfo>& inputs() const;
  /// Outputs that run() returns.
  const std::vector<TensorInfo>& outputs() const;

  /// Performs the next run. Bound outputs become bound inputs of the run after it, without copies. In the
  /// first run, bound inputs have the values of set(), or else are all zeros: their dimensions have the sizes
  /// that other inputs give them, or 0 if they are open, which is an empty cache. Bad input for types and
  /// shapes that the engine does not accept, and if caches of a fixed capacity are full; the state then does
  /// not change.
  std::vector<Tensor> run(const std::vector<TensorView>& inputs);

  /// Sets the value of a bound input for the next run; it is copied. Usage error for the name of another
  /// input, and if caches have a fixed capacity (BuildOptions::bind), because only runs fill these.
  void set(const std::string& input, const TensorView& value);
  /// The value of a bound input for the next run; it has no elements before the first run.
  Tensor state(const std::string& input) const;
  /// Returns to the state before the first run.
  void reset();

 private:
  friend class Engine;
  struct State;
  explicit Sequence(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace hone
