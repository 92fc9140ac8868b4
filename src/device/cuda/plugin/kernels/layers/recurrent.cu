// See recurrent.hpp.
#include "device/cuda/plugin/kernels/layers/recurrent.hpp"

#include "device/cuda/plugin/kernels/common/activation.cuh"
#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/reduce.cuh"

namespace hone::device::cuda {
namespace {

constexpr int kWarps = 4;
/// The most iterations over a row of weights for which a lane keeps the weights in registers.
constexpr int kMostTurns = 4;

struct Params {
  RecurrentArgs args;
  RecurrentSize size;
  float* h[2];  ///< the states before and after a step alternate
  float* c;
};

__device__ __forceinline__ int64_t state_at(const RecurrentSize& size, int64_t direction, int64_t item) {
  const int64_t row = size.batch_major ? item * size.directions + direction : direction * size.batch + item;
  return row * size.hidden;
}

/// The next state of a unit from the sums of its gates. For the last gate of a GRU, the sum has only the
/// input's part; `recurrent` is the other part.
template <RecurrentCell kCell>
__device__ __forceinline__ float next_state(const float (&sums)[recurrent_gates(kCell)], float recurrent,
                                            float before, float& c) {
  if constexpr (kCell == RecurrentCell::kLstm) {
    c = sigmoid(sums[2]) * c + sigmoid(sums[0]) * tanhf(sums[3]);
    return sigmoid(sums[1]) * tanhf(c);
  } else if constexpr (kCell == RecurrentCell::kGru) {
    const float candidate = tanhf(sums[2] + sigmoid(sums[1]) * recurrent);
    const float update = sigmoid(sums[0]);
    return (1.0f - update) * candidate + update * before;
  } else if constexpr (kCell == RecurrentCell::kTanh) {
    return tanhf(sums[0]);
  } else {
    return sums[0] < 0.0f ? 0.0f : sums[0];
  }
}

/// A warp's rows of weights, one for each gate. They stay in registers if
/// kTurns iterations cover them; otherwise they are read again for every item
/// of the batch. kRun is the number of elements that a lane loads at once.
template <class T, int kGates, int kRun, int kTurns>
class UnitWeights {
 public:
  __device__ __forceinline__ UnitWeights(const T* rows, int64_t gate_stride, int hidden)
      : rows_(rows), gate_stride_(gate_stride), hidden_(hidden) {
    if constexpr (kTurns > 0) {
#pragma unroll
      for (int turn = 0; turn < kTurns; ++turn) {
#pragma unroll
        for (int gate = 0; gate < kGates; ++gate) {
          const int at = column(turn);
          if (at < hidden_) load<kRun>(rows_ + gate * gate_stride_ + at, kept_[turn][gate]);
        }
      }
    }
  }

  /// Computes this lane's part of the products with a state.
  __device__ __forceinline__ void multiply(const float* h, float (&sums)[kGates]) const {
#pragma unroll
    for (float& sum : sums) sum = 0.0f;
    if constexpr (kTurns > 0) {
#pragma unroll
      for (int turn = 0; turn < kTurns; ++turn) {
        if (column(turn) < hidden_) add(kept_[turn], h + column(turn), sums);
      }
    } else {
      for (int turn = 0; column(turn) < hidden_; ++turn) {
        T weights[kGates][kRun];
#pragma unroll
        for (int gate = 0; gate < kGates; ++gate)
          load<kRun>(rows_ + gate * gate_stride_ + column(turn), weights[gate]);
        add(weights, h + column(turn), sums);
      }
    }
  }

 private:
  static __device__ __forceinline__ int column(int turn) {
    return (turn * 32 + static_cast<int>(threadIdx.x) % 32) * kRun;
  }
  static __device__ __forceinline__ void add(const T (&weights)[kGates][kRun], const float* h,
                                             float (&sums)[kGates]) {
    float state[kRun];
    load<kRun>(h, state);
#pragma unroll
    for (int gate = 0; gate < kGates; ++gate) {
#pragma unroll
      for (int i = 0; i < kRun; ++i) sums[gate] = fmaf(to_float(weights[gate][i]), state[i], sums[gate]);
    }
  }

  const T* rows_;
  int64_t gate_stride_;
  int hidden_;
  T kept_[kTurns > 0 ? kTurns : 1][kGates][kRun];
};

template <class T, RecurrentCell kCell, int kRun, int kTurns>
__global__ void __launch_bounds__(32 * kWarps)
    recurrent_step_kernel(const __grid_constant__ Params p, int64_t step, bool next_waits,
                          KernelStamp* stamp) {
  const RunningKernel running(stamp);
  if (next_waits) ptx::allow_next_kernel();
  constexpr int kGates = recurrent_gates(kCell);
  const RecurrentSize& size = p.size;
  const int64_t hidden = size.hidden;
  const int64_t warp = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  const int64_t direction = warp / hidden;
  const int64_t unit = warp - direction * hidden;
  if (direction >= size.directions) return;
  const T* const rows = static_cast<const T*>(p.args.r) + (direction * kGates * hidden + unit) * hidden;
  const UnitWeights<T, kGates, kRun, kTurns> weights(rows, hidden * hidden, static_cast<int>(hidden));
  float bias[kGates] = {};
  float recurrent_bias = 0.0f;
  if (p.args.bias != nullptr) {
    const float* const of_w = p.args.bias + direction * 2 * kGates * hidden + unit;
#pragma unroll
    for (int gate = 0; gate < kGates; ++gate) {
      const float of_r = of_w[(kGates + gate) * hidden];
      const bool apart = kCell == RecurrentCell::kGru && gate == kGates - 1;
      bias[gate] = of_w[gate * hidden] + (apart ? 0.0f : of_r);
      if (apart) recurrent_bias = of_r;
    }
  }
  ptx::wait_for_previous_kernel();

  const int64_t time = size.reversed[direction] ? size.steps - 1 - step : step;
  const float* const before = step == 0 ? p.args.initial_h : p.h[step % 2];
  float* const behind = p.h[(step + 1) % 2];
  for (int64_t item = 0; item < size.batch; ++item) {
    const int64_t state = state_at(size, direction, item);
    const int64_t row = size.batch_major ? item * size.steps + time : time * size.batch + item;
    const float* const products =
        p.args.products + (row * size.directions + direction) * kGates * hidden + unit;
    float sums[kGates] = {};
    float own = 0.0f;
    if (before != nullptr) {
      weights.multiply(before + state, sums);
      own = before[state + unit];
    }
    float c = 0.0f;
    if (kCell == RecurrentCell::kLstm) {
      const float* const cells = step == 0 ? p.args.initial_c : p.c;
      if (cells != nullptr) c = cells[state + unit];
    }
    float inputs[kGates];
#pragma unroll
    for (int gate = 0; gate < kGates; ++gate) inputs[gate] = products[gate * hidden] + bias[gate];
    float recurrent = 0.0f;
#pragma unroll
    for (int gate = 0; gate < kGates; ++gate) {
      sums[gate] = reduce_warp(sums[gate], Plus());
      const bool apart = kCell == RecurrentCell::kGru && gate == kGates - 1;
      if (apart) recurrent = sums[gate] + recurrent_bias;
      sums[gate] = inputs[gate] + (apart ? 0.0f : sums[gate]);
    }
    const float h = next_state<kCell>(sums, recurrent, own, c);
    if (threadIdx.x % 32 != 0) continue;
    behind[state + unit] = h;
    if (kCell == RecurrentCell::kLstm) p.c[state + unit] = c;
    if (p.args.y != nullptr) {
      const int64_t at = size.batch_major
                             ? (row * size.directions + direction) * hidden
                             : ((time * size.directions + direction) * size.batch + item) * hidden;
      static_cast<T*>(p.args.y)[at + unit] = from_float<T>(h);
    }
    if (step + 1 < size.steps) continue;
    if (p.args.last_h != nullptr) static_cast<T*>(p.args.last_h)[state + unit] = from_float<T>(h);
    if (p.args.last_c != nullptr) static_cast<T*>(p.args.last_c)[state + unit] = from_float<T>(c);
  }
}

using StepKernel = void (*)(const Params, int64_t, bool, KernelStamp*);

template <class T, RecurrentCell kCell, int kTurns = 1>
StepKernel kernel_for(int64_t hidden) {
  constexpr int kRun = kVector<T>;
  if (hidden % kRun != 0) return recurrent_step_kernel<T, kCell, 1, 0>;
  if (hidden <= int64_t{32} * kRun * kTurns) return recurrent_step_kernel<T, kCell, kRun, kTurns>;
  if constexpr (kTurns < kMostTurns) {
    return kernel_for<T, kCell, 2 * kTurns>(hidden);
  } else {
    return recurrent_step_kernel<T, kCell, kRun, 0>;
  }
}

template <class T>
StepKernel kernel_for(RecurrentCell cell, int64_t hidden) {
  switch (cell) {
    case RecurrentCell::kLstm: return kernel_for<T, RecurrentCell::kLstm>(hidden);
    case RecurrentCell::kGru: return kernel_for<T, RecurrentCell::kGru>(hidden);
    case RecurrentCell::kTanh: return kernel_for<T, RecurrentCell::kTanh>(hidden);
    case RecurrentCell::kRelu: break;
  }
  return kernel_for<T, RecurrentCell::kRelu>(hidden);
}

}  // namespace

int64_t recurrent_workspace_bytes(const RecurrentSize& size) {
  return 3 * size.state() * static_cast<int64_t>(sizeof(float));
}

Refusal recurrent_refusal(const RecurrentSize& size) {
  constexpr int64_t kMost = int64_t{1} << 30;
  if (size.hidden < 1 || size.batch < 1 || size.steps < 1) return "it is empty";
  if (size.hidden > kMost / size.directions || size.steps > kMost) return "a huge layer";
  return {};
}

cudaError_t recurrent_steps(const RecurrentSize& size, const RecurrentArgs& args,
                            const LaunchOptions& options) {
  if (recurrent_refusal(size)) return cudaErrorInvalidValue;
  auto* const states = static_cast<float*>(args.workspace);
  Params params{args, size, {states, states + size.state()}, states + 2 * size.state()};
  const dim3 grid = grid_for(size.directions * size.hidden, kWarps);
  return with_float_type(size.type, [&]<class T>() {
    const StepKernel kernel = kernel_for<T>(size.cell, size.hidden);
    for (int64_t step = 0; step < size.steps; ++step) {
      const bool next_waits = step + 1 < size.steps ? options.pdl : options.next_waits;
      const cudaError_t status = launch(kernel, grid, 32 * kWarps, options, params, step, next_waits);
      if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
  });
}

}  // namespace hone::device::cuda
