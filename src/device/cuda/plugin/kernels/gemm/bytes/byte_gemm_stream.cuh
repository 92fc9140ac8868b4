// The GEMM of bytes as a stream of tiles, with the same warp roles as warpgroup_gemm_stream.cuh:
//
//   warpgroups | wait for stages, multiply, finish: bytes to the tile in shared memory, floats to y;
//              | for a sum, first the bytes of one product, then those of the other, which adds them
//   copier     | stages of x and w, and the tile of an operand of bytes in the place of the output's
//   storer     | first windows; finished tiles of bytes to y
#pragma once

#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_finish.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_stream.cuh"

namespace hone::device::cuda {

/// The element type of a result of bytes.
struct Bytes {};

/// True if the operand is copied into the output tile's shared memory before the products are finished.
template <ByteFunction kFunction, class Out, class TileT>
inline constexpr bool kBringsOperand = kFunction == ByteFunction::kAdd&& __is_same(Out, Bytes) &&
                                       !TileT::kSums;

/// The shared memory in which the block's tile number `number`,
/// counted from 0, is finished. Two places alternate.
template <class TileT>
struct OutputPlace {
  static constexpr int kBarrierBytes = byte_output_barrier_bytes(TileT::kGroups);
  OutputBarriers barriers;
  uint32_t memory;
  uint32_t parity;

  __device__ __forceinline__ OutputPlace(const StreamBlock<TileT>& block, int number)
      : barriers{block.barriers.start + number % kByteOutputs * kBarrierBytes},
        memory(block.output + number % kByteOutputs * ByteSlabs<TileT>::kBytes),
        parity(number / kByteOutputs & 1) {}
};

/// Copies the operand of a tile into the place of its output, once the previous tile there has been stored.
template <class TileT>
__device__ __forceinline__ void copy_byte_operand(const StreamBlock<TileT>& block, int tile_m, int tile_n,
                                                  const OutputPlace<TileT>& place) {
  using Slabs = ByteSlabs<TileT>;
  for (int group = 0; group < TileT::kGroups; ++group)
    ptx::wait_barrier(place.barriers.stored(group), place.parity ^ 1);
  if (ptx::elected()) {
    ptx::expect_copies(place.barriers.operand(), Slabs::kBytes);
    for (int slab = 0; slab < Slabs::kSlabs; ++slab) {
      for (int row = 0; row < TileT::kM; row += 64) {
        ptx::copy_rows(place.memory + slab * Slabs::kSlabBytes + row * Slabs::kChannels, block.p.operand,
                       place.barriers.operand(), (tile_n * TileT::kN + slab * Slabs::kChannels) / 2,
                       tile_m * TileT::kM + row);
      }
    }
  }
  __syncwarp();
}

/// The role of the warp that copies.
template <bool kOperand, class TileT>
__device__ __forceinline__ void byte_stages(const StreamBlock<TileT>& block) {
  const auto& p = block.p;
  RingPlace place;
  int number = 0;
  block.tiles([&](int tile_m, int tile_n) {
    CopiesOf<TileT> stages(p, tile_m * TileT::kM, tile_n, 0);
    const int ahead = min(p.stages, p.depth_steps);
    if (number == 0) {
      stages.start_ring_filters(p, block.ring, ahead);
      ptx::wait_for_previous_kernel();
      for (int s = 0; s < ahead; ++s) place.next(p.stages);
    } else {
      stages.start_stages(p, block.ring, place, ahead);
    }
    // The ring is full by now, so that waiting for an earlier tile delays no stage.
    if constexpr (kOperand) {
      if (p.ending.has_operand) copy_byte_operand(block, tile_m, tile_n, OutputPlace<TileT>(block, number));
    }
    ++number;
    stages.start_stages(p, block.ring, place, p.depth_steps, ahead);
  });
}

/// The role of the warp that stores.
template <class TileT>
__device__ __forceinline__ void byte_outputs(const StreamBlock<TileT>& block) {
  using Slabs = ByteSlabs<TileT>;
  int number = 0;
  block.tiles([&](int tile_m, int tile_n) {
    const OutputPlace<TileT> place(block, number++);
    for (int group = 0; group < TileT::kGroups; ++group) {
      ptx::wait_barrier(place.barriers.finished(group), place.parity);
      if (ptx::elected()) {
        for (int fragment = 0; fragment < TileT::kFragments; ++fragment) {
          const int row = (group * TileT::kFragments + fragment) * 64;
          for (int slab = 0; slab < Slabs::kSlabs; ++slab) {
            ptx::store_rows(block.p.output, place.memory + slab * Slabs::kSlabBytes + row * Slabs::kChannels,
                            (tile_n * TileT::kN + slab * Slabs::kChannels) / 2, tile_m * TileT::kM + row);
          }
        }
        ptx::commit_stores();
      }
      __syncwarp();
    }
    if (ptx::elected()) {
      ptx::wait_stores_read();
      for (int group = 0; group < TileT::kGroups; ++group) ptx::arrive(place.barriers.stored(group));
    }
    __syncwarp();
  });
}

/// Multiplies the next `steps` stages into `product`.
template <class TileT>
__device__ __forceinline__ void multiply_stages(const StreamBlock<TileT>& block, RingPlace& at, int steps,
                                                bool unsigned_x, ByteProduct<TileT>& product) {
  if (unsigned_x) {
    product.template run<true>(block.ring, at, steps);
  } else {
    product.template run<false>(block.ring, at, steps);
  }
}

/// Writes a warpgroup's bytes to the tile in shared memory.
template <ByteFunction kFunction, class TileT>
__device__ __forceinline__ void finish_tile(const StreamBlock<TileT>& block, const ByteEnding& ending,
                                            uint32_t memory, int tile_n, const ByteProduct<TileT>& product) {
  with_finish_kind<kFunction>(ending.finish, [&]<class Kind>() {
    finish_bytes<Kind>(ending, block.p.epilogue.filters, memory, tile_n, product);
  });
}

/// Signals that the warpgroup's part of a tile is ready to be stored.
template <class TileT>
__device__ __forceinline__ void hand_over(const OutputPlace<TileT>& place, int group) {
  ptx::fence_for_copies();
  __syncwarp();
  if (threadIdx.x % 32 == 0) ptx::arrive(place.barriers.finished(group));
}

/// The role of a warpgroup.
template <ByteFunction kFunction, class Out, class TileT>
__device__ __forceinline__ void byte_products(const StreamBlock<TileT>& block) {
  const auto& p = block.p;
  const int group = ptx::warpgroup();
  RingPlace at;
  int number = 0;
  // y must not be written before the previous kernel has ended, since that may still read it.
  if (!__is_same(Out, Bytes)) ptx::wait_for_previous_kernel();
  block.tiles([&](int tile_m, int tile_n) {
    ByteProduct<TileT> product;
    multiply_stages(block, at, p.depth_steps, p.unsigned_x, product);
    if constexpr (__is_same(Out, Bytes)) {
      // Wait until the place is free: the previous tile has
      // been stored, and the operand, if any, has arrived.
      const OutputPlace<TileT> place(block, number++);
      if (kBringsOperand<kFunction, Out, TileT> && p.ending.has_operand) {
        ptx::wait_barrier(place.barriers.operand(), place.parity);
      } else {
        ptx::wait_barrier(place.barriers.stored(group), place.parity ^ 1);
      }
      finish_tile<kFunction>(block, p.ending, place.memory, tile_n, product);
      hand_over(place, group);
    } else {
      with_finish_kind<kFunction>(
          p.ending.finish, [&]<class Kind>() { finish_floats<Kind, Out>(p, tile_m, tile_n, product); });
    }
  });
}

/// The role of a warpgroup in a sum. The bytes of a tile's first product wait in the output's place for the
/// second product, as a copied operand would.
template <class TileT>
__device__ __forceinline__ void byte_sums(const StreamBlock<TileT>& block) {
  const auto& p = block.p;
  const int group = ptx::warpgroup();
  RingPlace at;
  int number = 0;
  block.tiles([&](int, int tile_n) {
    ByteProduct<TileT> product;
    multiply_stages(block, at, p.first_steps, p.unsigned_x, product);
    const OutputPlace<TileT> place(block, number++);
    ptx::wait_barrier(place.barriers.stored(group), place.parity ^ 1);
    finish_tile<ByteFunction::kBounds>(block, p.operand_ending, place.memory, tile_n, product);
    multiply_stages(block, at, p.depth_steps - p.first_steps, p.unsigned_second_x, product);
    // A warp reads only bytes that it wrote itself, but a lane also reads bytes of other lanes.
    __syncwarp();
    finish_tile<ByteFunction::kAdd>(block, p.ending, place.memory, tile_n, product);
    hand_over(place, group);
  });
}

/// Blocks that should share a multiprocessor, so that one finishes while others multiply. For some tiles, the
/// compiler has to save a few registers for that.
template <class TileT>
inline constexpr int kBlocksBeside = TileT::kFragments* TileT::kN <= 128 ? 2 : 1;

template <class Out, ByteFunction kFunction, class TileT>
__global__ void __launch_bounds__(TileT::kGroups * 128 + 64, kBlocksBeside<TileT>)
    byte_gemm_stream(const __grid_constant__ typename TileT::Params p, KernelStamp* stamp) {
  constexpr int kCopier = TileT::kGroups * 128;
  constexpr int kStorer = kCopier + 32;
  const RunningKernel running(stamp, __is_same(Out, Bytes) ? kStorer : 0);
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  const uint32_t start = ptx::shared_address(memory);
  const uint32_t output = start + p.stages * TileT::kStageBytes;
  const uint32_t barriers = output + kByteOutputs * ByteSlabs<TileT>::kBytes;
  const StreamBlock<TileT> block{p, {start, barriers, p.stages}, {barriers + p.stages * 16}, output};
  // Done by a warp that does not set up the barriers, so that the first copies start sooner.
  if (static_cast<int>(threadIdx.x) == kStorer) {
    ptx::prefetch_map(p.filters);
    ptx::prefetch_map(p.windows);
    prefetch_second_maps(p);
    if (__is_same(Out, Bytes)) ptx::prefetch_map(p.output);
  }
  if (static_cast<int>(threadIdx.x) == kCopier) {
    block.ring.init(TileT::kGroups * 4);
    for (int number = 0; number < kByteOutputs; ++number) {
      const OutputPlace<TileT> place(block, number);
      ptx::init_barrier(place.barriers.operand(), 1);
      for (int group = 0; group < TileT::kGroups; ++group) {
        ptx::init_barrier(place.barriers.finished(group), 4);
        ptx::init_barrier(place.barriers.stored(group), 1);
      }
    }
    ptx::fence_barriers();
  }
  __syncthreads();
  const int warp = ptx::warp();
  if (warp < kCopier / 32) {
    if constexpr (TileT::kSums) {
      byte_sums(block);
    } else {
      byte_products<kFunction, Out>(block);
    }
  } else if (warp == kCopier / 32) {
    byte_stages<kBringsOperand<kFunction, Out, TileT>>(block);
  } else {
    ptx::wait_for_previous_kernel();
    CopiesOf<TileT>(p, static_cast<int>(p.tiles_n.divide(blockIdx.x)) * TileT::kM, 0, 0)
        .start_ring_windows(p, block.ring, min(p.stages, p.depth_steps));
    if constexpr (__is_same(Out, Bytes)) byte_outputs(block);
  }
}

}  // namespace hone::device::cuda
