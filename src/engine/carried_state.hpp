// Outputs that become inputs of the next run: the cache of a decoder, the state of a recurrent network.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace hone::engine {

/// In every run, the input is the output of the previous run. Both are indices in graph order.
struct Carry {
  size_t input = 0;
  size_t output = 0;
};

/// Parses texts of the form INPUT=OUTPUT. A * matches any characters, and on the right the same ones as on
/// the left: "past_key_values.*=present.*" matches all caches of a decoder. Usage error for a text of another
/// form, for a text that names no input or no output, for an input or output that occurs twice, and for a
/// pair with incompatible types.
std::vector<Carry> parse_carries(const graph::Graph& graph, std::span<const std::string> texts);

/// Consecutive runs on any implementation. Values are moved from one run to the next, not copied.
class CarriedRuns {
 public:
  /// Computes outputs from inputs, both in graph order.
  using Run = std::function<std::vector<tensor::Tensor>(std::span<const tensor::Tensor>)>;

  /// The graph must outlive it.
  CarriedRuns(const graph::Graph& graph, std::vector<Carry> carries);

  /// True if run() fills in the input itself.
  bool is_carried_input(size_t input) const { return state_of_input_[input] != kNone; }
  bool is_carried_output(size_t output) const { return state_of_output_[output] != kNone; }

  /// Sets the value of a carried input for the next run.
  void set(size_t input, tensor::Tensor value);
  /// Resets carried inputs to their initial state.
  void reset();

  /// Returns all inputs of the next run. `inputs` is in graph order; its entries for carried inputs are
  /// ignored. Before the first run, an input that was not set is all zeros: its open dimensions get the sizes
  /// that other inputs have under the same symbol, else 0. Bad input if its rank is unknown.
  std::vector<tensor::Tensor> next_inputs(std::span<const tensor::Tensor> inputs);
  /// Returns all outputs; carried ones are undefined and available from state().
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs, const Run& run);
  /// The carried output of the last run.
  const tensor::Tensor& state(size_t output) const { return states_[state_of_output_[output]]; }
  /// The value of a carried input for the next run; undefined if it is not determined yet.
  const tensor::Tensor& state_of_input(size_t input) const { return states_[state_of_input_[input]]; }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  tensor::Tensor empty_state(size_t input, std::span<const tensor::Tensor> inputs) const;

  const graph::Graph& graph_;
  std::vector<Carry> carries_;
  /// Indexed by carry.
  std::vector<tensor::Tensor> states_;
  std::vector<size_t> state_of_input_;
  std::vector<size_t> state_of_output_;
};

}  // namespace hone::engine
