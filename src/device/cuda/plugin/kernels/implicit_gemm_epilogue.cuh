// From a block's sums to y: staging in shared memory, adding the parts of a split depth, bias, steps, stores.
#pragma once

#include "device/cuda/plugin/kernels/implicit_gemm_loader.cuh"
#include "device/cuda/plugin/kernels/implicit_gemm_steps.cuh"

namespace hone::device::cuda {

/// Where a block stands: its tile of the output and its part of the depth.
struct BlockPlace {
  int tile;
  int tile_m;
  int tile_n;
  int part;
};

/// The shared memory of a block after its main loop, as addresses.
struct EpilogueMemory {
  float* staged;  ///< [kM][kN + kStagePad]
  const float* bias;
  uint4* prefetched;
};

template <class TileT>
struct Vectors {
  /// Runs of eight channels of a tile.
  static constexpr int kPerRow = TileT::kN / 8;
  static constexpr int kCount = TileT::kM * kPerRow;
};

/// Which vectors this block finishes: all, or its share in a cluster.
template <class TileT>
__device__ __forceinline__ int vectors_of_block(const GemmParams& p) {
  return p.cluster ? Vectors<TileT>::kCount / p.split_k : Vectors<TileT>::kCount;
}

/// Starts copying what the vectors of this thread will need of the prefetched operand. The same thread reads
/// each 16 bytes that it copied, so no barrier is needed.
template <class T, class TileT>
__device__ __forceinline__ void prefetch_operand(const GemmParams& p, const BlockPlace& place,
                                                 uint4* target) {
  const int count = vectors_of_block<TileT>(p);
  const int first = p.cluster ? place.part * count : 0;
  for (int v = static_cast<int>(threadIdx.x); v < count; v += TileT::kThreads) {
    const int row = place.tile_m * TileT::kM + (first + v) / Vectors<TileT>::kPerRow;
    const int channel = place.tile_n * TileT::kN + (first + v) % Vectors<TileT>::kPerRow * 8;
    const bool valid = row < p.rows && channel < p.filters;
    const size_t offset = valid ? static_cast<size_t>(row) * p.filters + channel : 0;
    ptx::copy16(ptx::shared_address(target + v), static_cast<const T*>(p.prefetched) + offset, valid);
  }
}

__device__ __forceinline__ void add4(float (&values)[8], int at, const float4& part) {
  values[at] += part.x;
  values[at + 1] += part.y;
  values[at + 2] += part.z;
  values[at + 3] += part.w;
}

/// Adds up kParts blocks' sums in the order of the blocks. All loads start before the first addition.
template <int kParts>
__device__ __forceinline__ void sum_cluster(uint32_t address, float (&values)[8]) {
  float4 low[kParts];
  float4 high[kParts];
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    low[part] = ptx::load_from_block(address, part);
    high[part] = ptx::load_from_block(address + 16, part);
  }
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    add4(values, 0, low[part]);
    add4(values, 4, high[part]);
  }
}

template <class TileT>
__device__ __forceinline__ void sum_workspace(const GemmParams& p, int tile, int vector, float (&values)[8]) {
  constexpr size_t kTileFloats = static_cast<size_t>(TileT::kM) * TileT::kN;
  const float* const parts = p.partials + static_cast<size_t>(tile) * p.split_k * kTileFloats + vector * 8;
#pragma unroll 4
  for (int part = 0; part < p.split_k; ++part) {
    const auto* const from = reinterpret_cast<const float4*>(parts + part * kTileFloats);
    add4(values, 0, __ldcg(from));
    add4(values, 4, __ldcg(from + 1));
  }
}

/// The sums of one vector of the tile, over all parts of the depth.
template <class TileT>
__device__ __forceinline__ void sum_parts(const GemmParams& p, const BlockPlace& place, const float* staged,
                                          int vector, float (&values)[8]) {
#pragma unroll
  for (float& value : values) value = 0.0f;
  const float* const from = staged + vector / Vectors<TileT>::kPerRow * (TileT::kN + kStagePad) +
                            vector % Vectors<TileT>::kPerRow * 8;
  if (p.split_k == 1) {
    add4(values, 0, *reinterpret_cast<const float4*>(from));
    add4(values, 4, *reinterpret_cast<const float4*>(from + 4));
    return;
  }
  if (!p.cluster) {
    sum_workspace<TileT>(p, place.tile, vector, values);
    return;
  }
  const uint32_t address = ptx::shared_address(from);
  switch (p.split_k) {
    case 2: sum_cluster<2>(address, values); break;
    case 4: sum_cluster<4>(address, values); break;
    default: sum_cluster<8>(address, values); break;
  }
}

/// Finishes and stores the vectors of this block, one after another.
template <class T, class TileT>
__device__ __forceinline__ void store_vectors(const GemmParams& p, const BlockPlace& place,
                                              const EpilogueMemory& memory) {
  const int count = vectors_of_block<TileT>(p);
  const int first = p.cluster ? place.part * count : 0;
  for (int v = static_cast<int>(threadIdx.x); v < count; v += TileT::kThreads) {
    const int vector = first + v;
    const int row = place.tile_m * TileT::kM + vector / Vectors<TileT>::kPerRow;
    const int local = vector % Vectors<TileT>::kPerRow * 8;
    const int channel = place.tile_n * TileT::kN + local;
    if (row >= p.rows || channel >= p.filters) continue;
    float values[8];
    sum_parts<TileT>(p, place, memory.staged, vector, values);
    add4(values, 0, *reinterpret_cast<const float4*>(memory.bias + local));
    add4(values, 4, *reinterpret_cast<const float4*>(memory.bias + local + 4));
    if (p.mode == EpilogueMode::kSteps) {
      apply_steps<T>(p, row, channel, memory.prefetched + v, values);
    } else {
      if (p.mode == EpilogueMode::kAddRelu) {
        float operand[8];
        unpack<T>(memory.prefetched[v], operand);
        apply_binary(EpilogueOp::kAdd, operand, values);
      }
      if (p.mode != EpilogueMode::kPlain) {
#pragma unroll
        for (float& value : values) value = value < 0.0f ? 0.0f : value;
      }
    }
    *reinterpret_cast<uint4*>(static_cast<T*>(p.y) + static_cast<size_t>(row) * p.filters + channel) =
        pack<T>(values);
  }
}

/// Copies this block's sums to the workspace; true for the block that comes last, which then adds up all.
template <class TileT>
__device__ __forceinline__ bool last_with_partials(const GemmParams& p, const BlockPlace& place,
                                                   const float* staged) {
  constexpr int kFours = TileT::kM * TileT::kN / 4;
  float* const part = p.partials + (static_cast<size_t>(place.tile) * p.split_k + place.part) * kFours * 4;
  for (int i = static_cast<int>(threadIdx.x); i < kFours; i += TileT::kThreads) {
    const float* const from =
        staged + i / (TileT::kN / 4) * (TileT::kN + kStagePad) + i % (TileT::kN / 4) * 4;
    __stcg(reinterpret_cast<float4*>(part) + i, *reinterpret_cast<const float4*>(from));
  }
  __threadfence();
  __syncthreads();
  // The counter returns to 0 with the last block, ready for the next launch.
  unsigned before = 0;
  if (threadIdx.x == 0) before = atomicInc(p.counters + place.tile, static_cast<unsigned>(p.split_k) - 1);
  const bool last = __syncthreads_or(threadIdx.x == 0 && before == static_cast<unsigned>(p.split_k) - 1) != 0;
  if (last) __threadfence();
  return last;
}

template <class T, class TileT>
__device__ __forceinline__ void finish_block(const GemmParams& p, const BlockPlace& place,
                                             const EpilogueMemory& memory) {
  if (p.cluster) {
    ptx::sync_cluster();
    store_vectors<T, TileT>(p, place, memory);
    // Nobody leaves while others read its shared memory.
    ptx::sync_cluster();
    return;
  }
  __syncthreads();
  if (p.split_k > 1 && !last_with_partials<TileT>(p, place, memory.staged)) return;
  store_vectors<T, TileT>(p, place, memory);
}

}  // namespace hone::device::cuda
