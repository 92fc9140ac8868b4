// The warpgroup GEMM for any epilogue: one block computes one
// tile of y. The sums pass through shared memory as floats.
#pragma once

#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_epilogue.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_stages.cuh"

namespace hone::device::cuda {

template <class T, class TileT>
__device__ __forceinline__ void stage_sums(const WarpgroupProduct<T, TileT>& product, float* staged) {
  constexpr int kPitch = TileT::kN + kStagePad;
  float* const corner = staged + product.first_row() * kPitch + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int i = 0; i < TileT::kFragments; ++i) {
#pragma unroll
    for (int j = 0; j < TileT::kN / 8; ++j) {
      const float* const sums = product.sums[i] + 4 * j;
      float* const to = corner + i * 64 * kPitch + j * 8;
      *reinterpret_cast<float2*>(to) = make_float2(sums[0], sums[1]);
      *reinterpret_cast<float2*>(to + 8 * kPitch) = make_float2(sums[2], sums[3]);
    }
  }
}

/// The tile with the threads of the copying warp, for store_tile() and other functions of the epilogue.
template <class TileT>
struct WithCopier : TileT {
  static constexpr int kThreads = TileT::kGroups * 128 + 32;
  static_assert(TileT::kN <= kThreads);
};

/// The parts of one block: its position, its part of the depth, and its shared memory.
template <class TileT>
struct GemmBlock {
  static constexpr int kCopier = TileT::kGroups * 128;  ///< first thread of the warp that copies

  const typename TileT::Params& p;
  unsigned char* memory;
  BlockPlace place;
  DepthPart depth;
  float* bias;
  StageRing ring;
  uint32_t received;  ///< barrier for the rows that other blocks of the cluster send
  uint4* prefetched;

  __device__ __forceinline__ GemmBlock(const typename TileT::Params& params, unsigned char* shared)
      : p(params),
        memory(shared),
        place(params),
        depth(params, place.part),
        bias(reinterpret_cast<float*>(memory + p.staging_bytes)),
        ring{ptx::shared_address(memory), ptx::shared_address(bias + TileT::kN), p.stages},
        received(ring.barriers + p.stages * kRingBarrierBytes),
        prefetched(reinterpret_cast<uint4*>(bias + TileT::kN) + p.stages + 1) {}  // after the barriers

  static __device__ __forceinline__ bool multiplies() { return static_cast<int>(threadIdx.x) < kCopier; }

  /// Sets up the barriers and synchronises all threads.
  __device__ __forceinline__ void begin() const {
    if (static_cast<int>(threadIdx.x) == kCopier) {
      ptx::prefetch_map(p.filters);
      ptx::prefetch_map(p.windows);
      prefetch_second_maps(p);
      ring.init(TileT::kGroups * 4);
      ptx::init_barrier(received, 1);
      ptx::fence_barriers();
    }
    __syncthreads();
  }

  /// Makes all copies, in the warp that does not multiply. `meet` runs before the first wait for an empty
  /// stage: a warp that waits there could keep others at a barrier that it has not passed.
  template <class Meet>
  __device__ __forceinline__ void copy(const Meet& meet) const {
    if (ptx::warp() != kCopier / 32) return;
    CopiesOf<TileT> stages(p, place.tile_m * TileT::kM, place.tile_n, depth.first);
    const int ahead = min(p.stages, depth.count);
    stages.start_ring(p, ring, ahead);
    meet();
    RingPlace next{ahead == p.stages ? 0 : ahead, ahead == p.stages ? 1U : 0U};
    stages.start_stages(p, ring, next, depth.count, ahead);
  }
};

template <class T, class TileT>
__global__ void __launch_bounds__(WithCopier<TileT>::kThreads)
    warpgroup_gemm(const __grid_constant__ typename TileT::Params p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  using Whole = WithCopier<TileT>;
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  const GemmBlock<TileT> block(p, memory);
  load_bias<TileT::kN>(p.epilogue, block.place.tile_n * TileT::kN, p.anywhere, block.bias);
  block.begin();
  block.copy([] {});
  ptx::wait_for_previous_kernel();
  if (p.epilogue.prefetched != nullptr)
    prefetch_operand<T, TileT::kN, Whole::kThreads>(p.epilogue, share_of<Whole>(p, block.place),
                                                    block.prefetched);
  ptx::commit_copies();
  WarpgroupProduct<T, TileT> product{};
  RingPlace at;
  if (block.multiplies()) product.run(block.ring, at, block.depth.count);
  ptx::wait_copies<0>();
  auto* const staged = reinterpret_cast<float*>(memory);
  __syncthreads();
  if (block.multiplies()) stage_sums(product, staged);
  __syncthreads();
  store_tile<T, Whole>(p, block.place, {staged, block.bias, block.prefetched});
}

}  // namespace hone::device::cuda
