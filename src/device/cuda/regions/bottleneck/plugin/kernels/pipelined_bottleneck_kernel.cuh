// The pipelined bottleneck's kernel. Pixels are the columns of all products and filters their left matrix,
// which stays in registers for all tiles of a block, so that products only take pixels from shared memory. A
// tile is handed from one warpgroup to the next there, while the one before makes the next tile.
#pragma once

#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/common/left_matrices.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_finish.cuh"
#include "device/cuda/regions/bottleneck/plugin/kernels/pipelined_bottleneck_barriers.cuh"

namespace hone::device::cuda {

template <class T, int kNext, bool kProjects>
class PipelinedBottleneckBlock {
 public:
  using Memory = PipelineMemory<kNext, kProjects>;
  using Warps = PipelineWarps;

  __device__ __forceinline__ PipelinedBottleneckBlock(const PipelinedBottleneckParams& params,
                                                      unsigned char* memory)
      : p_(params),
        memory_(ptx::shared_address(memory)),
        warp_(ptx::warp()),
        barriers_{memory_ + Memory::kBarrierAt} {}

  /// By all threads, together; each warpgroup then goes its way.
  __device__ __forceinline__ void run() const {
    if (warp_ == Warps::kPatchCopier) {
      if (ptx::elected()) barriers_.init();
      __syncwarp();
    } else if (warp_ == Warps::kSetCopier) {
      for (const CUtensorMap* map : {&p_.x, &p_.shortcut, &p_.wide, &p_.narrow}) ptx::prefetch_map(*map);
    }
    __syncthreads();
    if (warp_ < 4) {
      ptx::take_registers<Warps::kWindowRegisters>();
      multiply_windows();
    } else if (warp_ < 8) {
      ptx::take_registers<Warps::kExpandRegisters>();
      expand();
    } else if (warp_ < 12) {
      ptx::give_registers<Warps::kNarrowRegisters>();
      narrow();
    } else {
      ptx::give_registers<Warps::kCopierRegisters>();
      if (warp_ == Warps::kPatchCopier) copy_patches();
      if (warp_ == Warps::kSetCopier) copy_sets();
      if (warp_ == Warps::kWideStorer) store_wide();
      if (warp_ == Warps::kNarrowStorer) store_narrow();
    }
  }

 private:
  static constexpr int kTaps = 9;
  static constexpr int kSteps = 4;  ///< of 16 channels, of 64
  static constexpr int kSums = Memory::kPixels / 2;
  static constexpr int kPieces = Memory::kPixels / 8;
  using Sums = float[kSums];
  /// Pairs of neighbouring pixels of a channel.
  using Pairs = uint32_t[(kPieces + 1) / 2][4];

  template <class Each>
  __device__ __forceinline__ void tiles(const Each& each) const {
    for (int i = static_cast<int>(blockIdx.x); i < p_.tiles; i += static_cast<int>(gridDim.x)) each(i);
  }

  __device__ __forceinline__ uint32_t patch(int i) const {
    return memory_ + Memory::kPatchesAt + i * Memory::kPatchBytes;
  }
  __device__ __forceinline__ uint32_t middle(int i) const {
    return memory_ + Memory::kMiddlesAt + i * Memory::kSlab;
  }
  __device__ __forceinline__ uint32_t wide(int set, int chunk) const {
    return memory_ + Memory::kSetsAt + set * Memory::kSetBytes + chunk * Memory::kSlab;
  }
  __device__ __forceinline__ uint32_t projected(int set) const { return wide(set, Memory::kChunks); }
  __device__ __forceinline__ uint32_t narrow(int i) const {
    return memory_ + Memory::kNarrowsAt + i * Memory::kNarrowBytes;
  }
  __device__ __forceinline__ uint32_t filters(int chunk) const {
    return memory_ + Memory::kFiltersAt + chunk * Memory::kFilterSlab;
  }

  /// The warp that brings a tile's pixels and those next to it: zeros where it has no neighbours.
  __device__ __forceinline__ void copy_patches() const {
    ptx::wait_for_previous_kernel();
    RingPlace place;
    tiles([&](int i) {
      const PipelineTile tile(p_, i);
      ptx::wait_barrier(barriers_.patch_empty(place.stage), place.parity ^ 1);
      if (ptx::elected()) {
        const uint32_t full = barriers_.patch_full(place.stage);
        ptx::expect_copies(full, 3 * p_.patch_width * Memory::kRowBytes);
        ptx::copy_pixels(patch(place.stage), p_.x, full, 0, tile.x - 1, tile.y - 1, tile.image);
      }
      __syncwarp();
      place.next(Memory::kPatches);
    });
  }

  /// The warp that brings what is added, or projected and then added, and the filters that are no
  /// warpgroup's.
  __device__ __forceinline__ void copy_sets() const {
    if (Memory::kFilters != 0 && ptx::elected()) copy_filters();
    __syncwarp();
    ptx::wait_for_previous_kernel();
    RingPlace place;
    tiles([&](int i) {
      const PipelineTile tile(p_, i);
      ptx::wait_barrier(barriers_.set_empty(place.stage), place.parity ^ 1);
      if (ptx::elected()) {
        const uint32_t full = barriers_.set_full(place.stage);
        constexpr int kSlabs = kProjects ? 1 : Memory::kChunks;
        ptx::expect_copies(full, kSlabs * Memory::kSlab);
        for (int slab = 0; slab < kSlabs; ++slab)
          ptx::copy_pixels(kProjects ? projected(place.stage) : wide(place.stage, slab), p_.shortcut, full,
                           slab * 64, tile.x, tile.y, tile.image);
      }
      __syncwarp();
      place.next(Memory::kSets);
    });
  }

  /// Called by one thread.
  __device__ __forceinline__ void copy_filters() const {
    ptx::expect_copies(barriers_.filters(), Memory::kFilters);
    for (int chunk = 0; chunk < Memory::kChunks; ++chunk) {
      if (kProjects) {
        ptx::copy_rows(filters(chunk), p_.projection, barriers_.filters(), 0, chunk * 64);
      } else {
        ptx::copy_rows(filters(chunk), p_.next, barriers_.filters(), chunk * 64, 0);
      }
    }
  }

  /// Pixels beyond the row's end are not written.
  __device__ __forceinline__ void store_wide() const {
    ptx::wait_for_previous_kernel();
    RingPlace place;
    tiles([&](int i) {
      const PipelineTile tile(p_, i);
      for (int chunk = 0; chunk < Memory::kChunks; ++chunk) {
        ptx::wait_barrier(barriers_.wide(place.stage, chunk), place.parity);
        if (ptx::elected()) {
          ptx::store_pixels(p_.wide, wide(place.stage, chunk), chunk * 64, tile.x, tile.y, tile.image);
          ptx::commit_stores();
        }
        __syncwarp();
      }
      leave_stored(barriers_.set_empty(place.stage));
      place.next(Memory::kSets);
    });
  }

  __device__ __forceinline__ void store_narrow() const {
    ptx::wait_for_previous_kernel();
    RingPlace place;
    tiles([&](int i) {
      const PipelineTile tile(p_, i);
      ptx::wait_barrier(barriers_.narrow_full(place.stage), place.parity);
      if (ptx::elected()) {
        for (int slab = 0; slab < kNext / 64; ++slab)
          ptx::store_pixels(p_.narrow, narrow(place.stage) + slab * Memory::kSlab, slab * 64, tile.x, tile.y,
                            tile.image);
        ptx::commit_stores();
      }
      __syncwarp();
      leave_stored(barriers_.narrow_empty(place.stage));
      place.next(Memory::kNarrows);
    });
  }

  /// Once this warp's stores have read shared memory.
  static __device__ __forceinline__ void leave_stored(uint32_t barrier) {
    if (ptx::elected()) {
      ptx::wait_stores_read();
      ptx::arrive(barrier);
    }
    __syncwarp();
  }

  /// The warpgroup of the 3 x 3 convolution. A tap's pixels are the patch from another row on; columns that
  /// are no pixels of the tile hold anything and reach no result.
  __device__ __forceinline__ void multiply_windows() const {
    uint32_t left[kTaps * kSteps][4];
    load_left(left, p_.window_filters);
    const Biases bias = biases(p_.window_bias, 0);
    const PairFinish<T, StreamKind::kBounds> finish(p_.window_bounds);
    RingPlace from;
    RingPlace to;
    tiles([&](int) {
      Sums sums;
      begin(bias, sums);
      ptx::wait_barrier(barriers_.patch_full(from.stage), from.parity);
      ptx::fence_sums();
      const uint64_t pixels = ptx::matrix_descriptor(patch(from.stage));
#pragma unroll
      for (int tap = 0; tap < kTaps; ++tap) {
        const uint64_t of_tap = pixels + (tap / 3 * p_.patch_width + tap % 3) * (Memory::kRowBytes >> 4);
#pragma unroll
        for (int k = 0; k < kSteps; ++k)
          ptx::multiply<T, Memory::kPixels>(sums, left[tap * kSteps + k], of_tap + k * 2);
      }
      ptx::commit_products();
      wait_for(sums);
      leave(barriers_.patch_empty(from.stage));
      from.next(Memory::kPatches);
      ptx::wait_barrier(barriers_.middle_empty(to.stage), to.parity ^ 1);
      store(finish, sums, middle(to.stage));
      hand_over(barriers_.middle_full(to.stage));
      to.next(Memory::kMiddles);
    });
  }

  /// The warpgroup of the expansion, 64 channels at a time: the next are multiplied while some are
  /// finished.
  __device__ __forceinline__ void expand() const {
    uint32_t left[Memory::kChunks * kSteps][4];
    load_left(left, p_.expand_filters);
    const PairFinish<T, kProjects ? StreamKind::kBounds : StreamKind::kAdd> finish(p_.wide_bounds);
    if (kProjects) ptx::wait_barrier(barriers_.filters(), 0);
    RingPlace from;
    RingPlace set;
    tiles([&](int) {
      Sums both[2];
      ptx::wait_barrier(barriers_.middle_full(from.stage), from.parity);
      ptx::wait_barrier(barriers_.set_full(set.stage), set.parity);
      const auto start = [&](int chunk) {
        Sums& sums = both[chunk % 2];
        begin(wide_bias(chunk), sums);
        ptx::fence_sums();
        const uint64_t pixels = ptx::matrix_descriptor(middle(from.stage));
#pragma unroll
        for (int k = 0; k < kSteps; ++k)
          ptx::multiply<T, Memory::kPixels>(sums, left[chunk * kSteps + k], pixels + k * 2);
        if (kProjects) {
          const uint64_t projection = ptx::matrix_descriptor(filters(chunk));
          const uint64_t shortcut = ptx::matrix_descriptor(projected(set.stage));
#pragma unroll
          for (int k = 0; k < kSteps; ++k)
            ptx::multiply<T, Memory::kPixels>(sums, projection + k * 2, shortcut + k * 2);
        }
        ptx::commit_products();
      };
      start(0);
#pragma unroll
      for (int chunk = 0; chunk < Memory::kChunks; ++chunk) {
        Pairs pairs;
        if constexpr (!kProjects) load(wide(set.stage, chunk), pairs);
        Sums& sums = both[chunk % 2];
        wait_for(sums);
        if (chunk + 1 < Memory::kChunks) {
          start(chunk + 1);
        } else {
          leave(barriers_.middle_empty(from.stage));
        }
        store(finish, sums, pairs, wide(set.stage, chunk));
        hand_over(barriers_.wide(set.stage, chunk));
      }
      from.next(Memory::kMiddles);
      set.next(Memory::kSets);
    });
  }

  /// The warpgroup of the next bottleneck's first convolution, chunk by chunk of its depth.
  __device__ __forceinline__ void narrow() const {
    constexpr int kParts = kNext / 64;
    uint32_t left[Memory::kNextInRegisters ? Memory::kChunks * kSteps : 1][4];
    if constexpr (Memory::kNextInRegisters) load_left(left, p_.next_filters);
    Biases bias[kParts];
#pragma unroll
    for (int part = 0; part < kParts; ++part) bias[part] = biases(p_.next_bias, part * 64);
    const PairFinish<T, StreamKind::kBounds> finish(p_.narrow_bounds);
    if (!Memory::kNextInRegisters) ptx::wait_barrier(barriers_.filters(), 0);
    RingPlace set;
    RingPlace to;
    tiles([&](int) {
      Sums sums[kParts];
#pragma unroll
      for (int part = 0; part < kParts; ++part) begin(bias[part], sums[part]);
#pragma unroll
      for (int chunk = 0; chunk < Memory::kChunks; ++chunk) {
        ptx::wait_barrier(barriers_.wide(set.stage, chunk), set.parity);
        ptx::fence_sums();
        const uint64_t pixels = ptx::matrix_descriptor(wide(set.stage, chunk));
#pragma unroll
        for (int k = 0; k < kSteps; ++k) {
          if constexpr (Memory::kNextInRegisters) {
            ptx::multiply<T, Memory::kPixels>(sums[0], left[chunk * kSteps + k], pixels + k * 2);
          } else {
#pragma unroll
            for (int part = 0; part < kParts; ++part)
              ptx::multiply<T, Memory::kPixels>(
                  sums[part], ptx::matrix_descriptor(filters(chunk) + part * 64 * Memory::kRowBytes) + k * 2,
                  pixels + k * 2);
          }
        }
        ptx::commit_products();
      }
#pragma unroll
      for (int part = 0; part < kParts; ++part) wait_for(sums[part]);
      leave(barriers_.set_empty(set.stage));
      set.next(Memory::kSets);
      ptx::wait_barrier(barriers_.narrow_empty(to.stage), to.parity ^ 1);
#pragma unroll
      for (int part = 0; part < kParts; ++part)
        store(finish, sums[part], narrow(to.stage) + part * Memory::kSlab);
      hand_over(barriers_.narrow_full(to.stage));
      to.next(Memory::kNarrows);
    });
  }

  struct Biases {
    float of[2];
  };

  /// Biases of this thread's two channels from `channel` on.
  static __device__ __forceinline__ Biases biases(const float* bias, int channel) {
    return {bias_of(bias, channel), bias_of(bias, channel + 8)};
  }

  /// Registers are scarce while the expansion is multiplied, so biases are loaded each time, from near
  /// memory.
  __device__ __forceinline__ Biases wide_bias(int chunk) const {
    Biases bias = biases(p_.expand_bias, chunk * 64);
    if (!kProjects) return bias;
    const Biases projection = biases(p_.projection_bias, chunk * 64);
    return {bias.of[0] + projection.of[0], bias.of[1] + projection.of[1]};
  }

  static __device__ __forceinline__ float bias_of(const float* bias, int channel) {
    const int own = static_cast<int>(threadIdx.x) % 128 / 32 * 16 + static_cast<int>(threadIdx.x) % 32 / 4;
    return bias == nullptr ? 0 : __ldg(bias + channel + own);
  }

  static __device__ __forceinline__ void begin(const Biases& bias, Sums& sums) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      sums[i] = bias.of[i / 2 % 2];
      ptx::hold(sums[i]);
    }
  }

  /// Code that reads the sums after it stays after it.
  static __device__ __forceinline__ void wait_for(Sums& sums) {
    ptx::wait_products<0>();
#pragma unroll
    for (float& sum : sums) ptx::hold(sum);
  }

  /// Where this lane's eight channels of a pixel lie in a slab, as ldmatrix and stmatrix take four matrices
  /// at a time: of the warp's 16 channels and of the 16 pixels from 8 * `piece` on, or twice of the last
  /// eight.
  __device__ __forceinline__ uint32_t place(uint32_t slab, int piece) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = lane % 8 + (piece + 1 == kPieces ? 0 : lane / 16 * 8);
    return slab + (piece * 8 + row) * Memory::kRowBytes + ((warp_ % 4 * 2 + lane / 8 % 2) ^ (lane % 8)) * 16;
  }

  /// Loads the shortcut: all of it before all stores.
  __device__ __forceinline__ void load(uint32_t slab, Pairs& pairs) const {
#pragma unroll
    for (int piece = 0; piece < kPieces; piece += 2)
      ptx::load_matrix_x4_transposed(pairs[piece / 2], place(slab, piece));
    __syncwarp();
  }

  /// Writes finished sums to a slab, after adding `pairs`.
  template <class Finish>
  __device__ __forceinline__ void store(const Finish& finish, const Sums& sums, Pairs& pairs,
                                        uint32_t slab) const {
#pragma unroll
    for (int piece = 0; piece < kPieces; piece += 2) {
      const bool last = piece + 1 == kPieces;
      uint32_t(&four)[4] = pairs[piece / 2];
#pragma unroll
      for (int m = 0; m < (last ? 2 : 4); ++m)
        finish.run(make_float2(sums[4 * piece + 2 * m], sums[4 * piece + 2 * m + 1]), four[m]);
      if (last) {
        ptx::store_matrix_x2_transposed(place(slab, piece), {four[0], four[1]});
      } else {
        ptx::store_matrix_x4_transposed(place(slab, piece), four);
      }
    }
  }
  template <class Finish>
  __device__ __forceinline__ void store(const Finish& finish, const Sums& sums, uint32_t slab) const {
    Pairs pairs;
    store(finish, sums, pairs, slab);
  }

  /// Hands over the data that this warp has written to those who multiply or store it.
  static __device__ __forceinline__ void hand_over(uint32_t barrier) {
    ptx::fence_for_copies();
    __syncwarp();
    leave(barrier);
  }

  static __device__ __forceinline__ void leave(uint32_t barrier) {
    if (threadIdx.x % 32 == 0) ptx::arrive(barrier);
  }

  const PipelinedBottleneckParams& p_;
  uint32_t memory_;
  int warp_;
  PipelineBarriers<Memory> barriers_;
};

template <class T, int kNext, bool kProjects>
__global__ void __launch_bounds__(PipelineWarps::kThreads, 1)
    pipelined_bottleneck_kernel(const __grid_constant__ PipelinedBottleneckParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp, PipelineWarps::kNarrowStorer * 32);
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  PipelinedBottleneckBlock<T, kNext, kProjects>(p, memory).run();
}

}  // namespace hone::device::cuda
