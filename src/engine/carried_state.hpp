// Outputs that feed inputs in the next run: the cache of a decoder, the state of a recurrent network.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace hone::engine {

/// The input takes in every run what the output was in the one before; both by their places in the graph.
struct Carry {
  size_t input = 0;
  size_t output = 0;
};

/// Parses texts of the form INPUT=OUTPUT. A * stands for any characters, and on the right for the same ones
/// as on the left: "past_key_values.*=present.*" are all caches of a decoder. Usage error for a text of
/// another form, for one that names no input or no output, for an input or output that is named twice, and
/// for two that no value can be.
std::vector<Carry> parse_carries(const graph::Graph& graph, std::span<const std::string> texts);

/// Runs after each other, whatever computes them. Values are moved from a run to the next, not copied.
class CarriedRuns {
 public:
  /// Inputs in graph order give outputs in graph order.
  using Run = std::function<std::vector<tensor::Tensor>(std::span<const tensor::Tensor>)>;

  /// The graph outlives it.
  CarriedRuns(const graph::Graph& graph, std::vector<Carry> carries);

  /// True if run() fills in the input itself.
  bool is_carried_input(size_t input) const { return state_of_input_[input] != kNone; }
  bool is_carried_output(size_t output) const { return state_of_output_[output] != kNone; }

  /// The value that a carried input has in the next run.
  void set(size_t input, tensor::Tensor value);
  /// Carried inputs are as before the first run.
  void reset();

  /// All inputs of the next run; what `inputs`, in graph order, has for those that are carried counts for
  /// nothing. Before the first run, an input that was not set is 0 everywhere: its open dimensions are as the
  /// other inputs have them under the same name, else 0. Bad input where its rank is not known.
  std::vector<tensor::Tensor> next_inputs(std::span<const tensor::Tensor> inputs);
  /// Gives all outputs, carried ones without a value: those are in state().
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs, const Run& run);
  /// The carried output of the last run.
  const tensor::Tensor& state(size_t output) const { return states_[state_of_output_[output]]; }
  /// The carried input of the next run; undefined where that is still open.
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
