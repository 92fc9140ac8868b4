// Runs after each other in which outputs feed inputs: a decoder with its cache, a recurrent network with its
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

/// Used by one thread at a time: run() is a usage error for a second one that calls it meanwhile. It keeps
/// the engine's weights, and may outlive the engine.
class Sequence {
 public:
  ~Sequence();
  Sequence(Sequence&&) noexcept;
  Sequence& operator=(Sequence&&) noexcept;

  /// Inputs that run() takes: all but the bound ones, in the engine's order.
  const std::vector<TensorInfo>& inputs() const;
  /// Outputs that run() returns.
  const std::vector<TensorInfo>& outputs() const;

  /// The next run. Bound outputs become its successor's bound inputs without being copied. In the first run
  /// these are what set() gave them, else 0 everywhere, and as large as other inputs say that their
  /// dimensions are, 0 where they are open: an empty cache. Bad input for types and shapes that the engine
  /// does not accept, and where caches of a fixed capacity are full; the state is as before then.
  std::vector<Tensor> run(const std::vector<TensorView>& inputs);

  /// The value of a bound input in the next run; it is copied. Usage error for a name of another input, and
  /// where caches have a fixed capacity (BuildOptions::bind): these are filled by runs.
  void set(const std::string& input, const TensorView& value);
  /// Value of a bound input in the next run; without elements before the first one.
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
