// An LSTM, GRU or RNN node as oneDNN sees it: sizes, where operands lie, weights in its order of gates.
//
// Sources: ONNX operator specifications of RNN, GRU and LSTM (opset 22); oneDNN developer guide, "RNN".
#pragma once

#include <dnnl.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

#include "device/cpu/onednn.hpp"
#include "engine/kernel.hpp"
#include "graph/graph.hpp"

namespace hone::device::cpu {

/// Operands by their positions in ONNX.
enum RecurrentInput : size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeepholes, kRecurrentInputs };
enum RecurrentOutput : size_t { kY, kYh, kYc, kRecurrentOutputs };

/// The properties in which the operators differ.
struct RecurrentCell {
  explicit RecurrentCell(const graph::Node& node);

  int64_t gate_count() const { return static_cast<int64_t>(gates.size()); }

  /// oneDNN's gate i is ONNX's gate gates[i].
  std::vector<int64_t> gates;
  /// ONNX's default ones, which are oneDNN's.
  std::vector<std::string_view> activations;
  bool has_cell_state = false;
  /// A GRU whose last gate keeps the biases of W and R apart: another gate scales one of them.
  bool linear_before_reset = false;
};

/// A layer at the shapes of a request. Descriptors are those of one direction.
struct RecurrentLayer {
  explicit RecurrentLayer(const engine::StepRequest& request);

  int64_t directions() const { return static_cast<int64_t>(reversed.size()); }

  /// (steps, batch, width) in a tensor that holds `parts` of them, one a direction.
  dnnl::memory::desc sequence_desc(int64_t parts, int64_t width) const;
  /// (1, 1, batch, hidden) of an initial or last state.
  dnnl::memory::desc state_desc() const;
  /// (1, 1, depth, gates, hidden).
  dnnl::memory::desc weights_desc(int64_t depth) const;
  /// (1, 1, gates, hidden), with linear_before_reset one gate more.
  dnnl::memory::desc bias_desc() const;
  /// Where a direction begins in Y and in a state, in bytes.
  int64_t offset(size_t direction) const;

  RecurrentCell cell;
  /// One entry per direction.
  std::vector<bool> reversed;
  bool batch_major = false;
  int64_t steps = 0;
  int64_t batch = 0;
  int64_t features = 0;
  int64_t hidden = 0;
};

/// One direction of the constant W, R or B arranged as weights_desc() or bias_desc(), from the store or put
/// into it now. A layer's arrangement is the same for all shapes of its input.
PackedConstant pack_recurrent(const engine::StepRequest& request, const RecurrentLayer& layer,
                              RecurrentInput operand, size_t direction, engine::WeightStore& weights);

}  // namespace hone::device::cpu
