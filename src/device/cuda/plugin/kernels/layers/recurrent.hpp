// LSTM, GRU and RNN layers. One kernel for each time step multiplies the previous state by the recurrent
// weights, with one warp for each hidden unit. The products of the inputs are computed for all steps
// beforehand. States and sums are in float.
//
// Source: ONNX operator specifications of RNN, GRU and LSTM (opset 22).
#pragma once

#include "base/host_device.hpp"
#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// Cells with ONNX's default activation functions, and an RNN with a rectifier. A GRU applies its reset gate
/// after the recurrent product (linear_before_reset).
enum class RecurrentCell : uint8_t { kLstm, kGru, kTanh, kRelu };

HONE_HOST_DEVICE constexpr int recurrent_gates(RecurrentCell cell) {
  if (cell == RecurrentCell::kLstm) return 4;
  return cell == RecurrentCell::kGru ? 3 : 1;
}

struct RecurrentSize {
  RecurrentCell cell = RecurrentCell::kLstm;
  FloatType type = FloatType::kHalf;
  int64_t steps = 0;
  int64_t batch = 1;
  int64_t hidden = 0;
  int directions = 1;
  bool reversed[2] = {};
  /// True if the batch is the first dimension of sequences and states (layout 1).
  bool batch_major = false;

  int64_t gates() const { return directions * recurrent_gates(cell) * hidden; }
  int64_t state() const { return directions * batch * hidden; }
};

/// Gates are in ONNX's order. `r` is
/// [directions][gates][hidden][hidden]. No kernel writes `r` or `bias`.
struct RecurrentArgs {
  const float* products = nullptr;  ///< products of the inputs, a row of gates() for each row of x
  const void* r = nullptr;
  const float* bias = nullptr;       ///< [directions][2][gates][hidden] for W and R, or null
  const float* initial_h = nullptr;  ///< zeros if null
  const float* initial_c = nullptr;
  void* y = nullptr;  ///< the output of every step; null if it is not needed
  void* last_h = nullptr;
  void* last_c = nullptr;
  void* workspace = nullptr;
};

int64_t recurrent_workspace_bytes(const RecurrentSize& size);

/// The reason why the kernels cannot run the layer; empty if they can.
Refusal recurrent_refusal(const RecurrentSize& size);

cudaError_t recurrent_steps(const RecurrentSize& size, const RecurrentArgs& args,
                            const LaunchOptions& options);

}  // namespace hone::device::cuda
