// Turns the sums of a tile into y: bias, steps and stores of
// runs of eight channels. Shared by the GEMM kernels.
#pragma once

#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_steps.cuh"

namespace hone::device::cuda {

/// The runs of eight channels that a block finishes: `count` runs from run `first` of the tile whose corner
/// is at pixel `row` and channel `channel`.
struct TileShare {
  int row;
  int channel;
  int first;
  int count;
};

/// Copies a tile's bias, or zeros without one, to shared memory; `anywhere` is any readable address.
template <int kN>
__device__ __forceinline__ void load_bias(const EpilogueParams& p, int channel, const void* anywhere,
                                          float* target) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= kN) return;
  const bool valid = p.bias != nullptr && channel + i < p.filters;
  const void* const source = valid ? static_cast<const void*>(p.bias + channel + i) : anywhere;
  ptx::copy4(ptx::shared_address(target + i), source, valid);
}

/// Starts copying the part of the prefetched operand that this thread's runs need. The thread that copies an
/// element also reads it, so no barrier is needed.
template <class T, int kN, int kThreads>
__device__ __forceinline__ void prefetch_operand(const EpilogueParams& p, const TileShare& share,
                                                 uint4* target) {
  for (int v = static_cast<int>(threadIdx.x); v < share.count; v += kThreads) {
    const int row = share.row + (share.first + v) / (kN / 8);
    const int channel = share.channel + (share.first + v) % (kN / 8) * 8;
    const bool valid = row < p.rows && channel < p.filters;
    const size_t offset = valid ? static_cast<size_t>(row) * p.filters + channel : 0;
    const auto* const source = reinterpret_cast<const uint4*>(static_cast<const T*>(p.prefetched) + offset);
#pragma unroll
    for (int i = 0; i < kRunWords<T>; ++i)
      ptx::copy16(ptx::shared_address(target + v * kRunWords<T> + i), source + i, valid);
  }
}

__device__ __forceinline__ void add4(float (&values)[8], int at, const float4& part) {
  values[at] += part.x;
  values[at + 1] += part.y;
  values[at + 2] += part.z;
  values[at + 3] += part.w;
}

/// Applies the epilogue to a run's sums plus bias. `prefetched`
/// is read only if the epilogue has such an operand.
template <class T>
__device__ __forceinline__ void finish_run(const EpilogueParams& p, int row, int channel,
                                           const uint4* prefetched, float (&values)[8]) {
  if (p.mode == EpilogueMode::kSteps) {
    apply_steps<T>(p, row, channel, prefetched, values);
    return;
  }
  if (p.mode == EpilogueMode::kAddRelu) {
    float operand[8];
    unpack<T>(prefetched, operand);
    apply_binary(graph::PostOp::kAdd, operand, values);
  }
  if (p.mode != EpilogueMode::kPlain) {
#pragma unroll
    for (float& value : values) value = value < 0.0f ? 0.0f : value;
  }
}

/// Finishes and stores the runs of this block; `sums(run, values)` returns a run's sums, and `bias` belongs
/// to the tile. Calls `running->leave()` before the last store.
template <class T, int kN, int kThreads, class Sums>
__device__ __forceinline__ void store_runs(const EpilogueParams& p, const TileShare& share, const float* bias,
                                           const uint4* prefetched, const Sums& sums,
                                           RunningKernel* running = nullptr) {
  for (int v = static_cast<int>(threadIdx.x); v < share.count; v += kThreads) {
    const int run = share.first + v;
    const int row = share.row + run / (kN / 8);
    const int local = run % (kN / 8) * 8;
    const int channel = share.channel + local;
    if (row >= p.rows || channel >= p.filters) continue;
    float values[8] = {};
    sums(run, values);
    add4(values, 0, *reinterpret_cast<const float4*>(bias + local));
    add4(values, 4, *reinterpret_cast<const float4*>(bias + local + 4));
    finish_run<T>(p, row, channel, prefetched + v * kRunWords<T>, values);
    if (running != nullptr && v + kThreads >= share.count) running->leave();
    pack<T>(values,
            reinterpret_cast<uint4*>(static_cast<T*>(p.y) + static_cast<size_t>(row) * p.filters + channel));
  }
}

}  // namespace hone::device::cuda
