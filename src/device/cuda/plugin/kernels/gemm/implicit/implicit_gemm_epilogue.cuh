// Turns a block's sums into y: stages them in shared memory, adds the parts of a split depth, then stores.
#pragma once

#include "device/cuda/plugin/kernels/gemm/gemm_store.cuh"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_loader.cuh"

namespace hone::device::cuda {

/// The position of a block: its tile of the output and its part of the depth.
struct BlockPlace {
  __device__ __forceinline__ explicit BlockPlace(const TileParams& p)
      : tile(static_cast<int>(p.split.divide(blockIdx.x))),
        tile_m(static_cast<int>(p.tiles_n.divide(tile))),
        tile_n(tile - tile_m * static_cast<int>(p.tiles_n.divisor)),
        part(static_cast<int>(blockIdx.x) - tile * p.split_k) {}

  int tile;
  int tile_m;
  int tile_n;
  int part;
};

/// The stages of the depth that a block computes: `count` from `first`.
struct DepthPart {
  __device__ __forceinline__ DepthPart(const TileParams& p, int part)
      : first(static_cast<int>(static_cast<int64_t>(p.depth_steps) * part / p.split_k)),
        count(static_cast<int>(static_cast<int64_t>(p.depth_steps) * (part + 1) / p.split_k) - first) {}

  int first;
  int count;
};

/// Addresses in a block's shared memory after its main loop.
struct EpilogueMemory {
  float* staged;  ///< [kM][kN + kStagePad]
  const float* bias;
  uint4* prefetched;
};

/// The runs that a block finishes: all of its tile, or its share in a cluster.
template <class TileT>
__device__ __forceinline__ TileShare share_of(const TileParams& p, const BlockPlace& place) {
  constexpr int kRuns = TileT::kM * TileT::kN / 8;
  const int count = p.cluster ? kRuns / p.split_k : kRuns;
  return {place.tile_m * TileT::kM, place.tile_n * TileT::kN, p.cluster ? place.part * count : 0, count};
}

/// Adds up kParts blocks' sums in the order of blocks. All loads start before the first addition.
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
__device__ __forceinline__ void sum_workspace(const TileParams& p, int tile, int run, float (&values)[8]) {
  constexpr size_t kTileFloats = static_cast<size_t>(TileT::kM) * TileT::kN;
  const float* const parts = p.partials + static_cast<size_t>(tile) * p.split_k * kTileFloats + run * 8;
#pragma unroll 4
  for (int part = 0; part < p.split_k; ++part) {
    const auto* const from = reinterpret_cast<const float4*>(parts + part * kTileFloats);
    add4(values, 0, __ldcg(from));
    add4(values, 4, __ldcg(from + 1));
  }
}

/// Adds the sums of one run of the tile over all parts of the depth.
template <class TileT>
__device__ __forceinline__ void sum_parts(const TileParams& p, const BlockPlace& place, const float* staged,
                                          int run, float (&values)[8]) {
  constexpr int kPerRow = TileT::kN / 8;
  const float* const from = staged + run / kPerRow * (TileT::kN + kStagePad) + run % kPerRow * 8;
  if (p.split_k == 1) {
    add4(values, 0, *reinterpret_cast<const float4*>(from));
    add4(values, 4, *reinterpret_cast<const float4*>(from + 4));
    return;
  }
  if (!p.cluster) {
    sum_workspace<TileT>(p, place.tile, run, values);
    return;
  }
  const uint32_t address = ptx::shared_address(from);
  switch (p.split_k) {
    case 2: sum_cluster<2>(address, values); break;
    case 4: sum_cluster<4>(address, values); break;
    default: sum_cluster<8>(address, values); break;
  }
}

template <class T, class TileT>
__device__ __forceinline__ void store_tile(const TileParams& p, const BlockPlace& place,
                                           const EpilogueMemory& memory, RunningKernel* running = nullptr) {
  store_runs<T, TileT::kN, TileT::kThreads>(
      p.epilogue, share_of<TileT>(p, place), memory.bias, memory.prefetched,
      [&](int run, float(&values)[8]) { sum_parts<TileT>(p, place, memory.staged, run, values); }, running);
}

/// Copies this block's sums to the workspace. Returns true in
/// the last block to arrive, which then adds up all parts.
template <class TileT>
__device__ __forceinline__ bool last_with_partials(const TileParams& p, const BlockPlace& place,
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
  // The last block wraps the counter to 0, ready for the next launch.
  unsigned before = 0;
  if (threadIdx.x == 0) before = atomicInc(p.counters + place.tile, static_cast<unsigned>(p.split_k) - 1);
  const bool last = __syncthreads_or(threadIdx.x == 0 && before == static_cast<unsigned>(p.split_k) - 1) != 0;
  if (last) __threadfence();
  return last;
}

template <class T, class TileT>
__device__ __forceinline__ void finish_block(const TileParams& p, const BlockPlace& place,
                                             const EpilogueMemory& memory, RunningKernel* running) {
  if (p.cluster) {
    ptx::sync_cluster();
    store_tile<T, TileT>(p, place, memory, running);
    // A block must not exit while others read its shared memory.
    ptx::sync_cluster();
    return;
  }
  __syncthreads();
  if (p.split_k > 1 && !last_with_partials<TileT>(p, place, memory.staged)) return;
  store_tile<T, TileT>(p, place, memory, running);
}

}  // namespace hone::device::cuda
