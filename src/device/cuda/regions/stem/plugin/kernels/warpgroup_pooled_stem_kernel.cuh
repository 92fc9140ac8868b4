// The stem and its pool. Filters are the left matrix and stay in registers for all tiles of a block, so that
// products only take pixels from shared memory, half of what both matrices would ask of it. A thread's sums
// are two filters' outputs of two neighbouring columns in all rows of a tile, so that they are pooled where
// they are, too. The pool's result can be multiplied once more in place: its pixels are the right matrix
// then. A product whose left matrix is in registers keeps its warps until it is nearly done, so that one
// warpgroup lays out the pixels of tiles, and two multiply and pool them in turns: while one multiplies, the
// other pools.
#pragma once

#include <cmath>

#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/common/left_matrices.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_steps.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_finish.cuh"
#include "device/cuda/regions/stem/plugin/kernels/stem_planes.cuh"
#include "device/cuda/regions/stem/plugin/kernels/warpgroup_pooled_stem_params.hpp"

namespace hone::device::cuda {

/// The barriers of the warpgroups of a block. Patches and planes have a place for each that multiplies.
struct PooledStemBarriers {
  uint32_t start;
  __device__ __forceinline__ uint32_t planes_full(int i) const { return at(i); }
  __device__ __forceinline__ uint32_t patch_full(int i) const { return at(kGroups + i); }
  __device__ __forceinline__ uint32_t patch_empty(int i) const { return at(2 * kGroups + i); }
  /// A warp may multiply: that of the tile before, on the same part of the multiprocessor, has started all of
  /// its products.
  __device__ __forceinline__ uint32_t turn(int i, int warp) const { return at(3 * kGroups + 4 * i + warp); }

  /// Called by one thread.
  __device__ __forceinline__ void init() const {
    for (int i = 0; i < kGroups; ++i) {
      ptx::init_barrier(planes_full(i), 1);
      ptx::init_barrier(patch_full(i), 4);
      ptx::init_barrier(patch_empty(i), 4);
      for (int warp = 0; warp < 4; ++warp) ptx::init_barrier(turn(i, warp), 1);
    }
    ptx::fence_barriers();
  }

 private:
  static constexpr int kGroups = PooledStemGroups::kMultiply;
  static_assert((3 + 4) * kGroups == PooledStemGroups::kBarriers);
  __device__ __forceinline__ uint32_t at(int i) const { return start + 8 * i; }
};

template <class T, class TileT, bool kNext>
class PooledStemBlock {
 public:
  using Groups = PooledStemGroups;

  __device__ __forceinline__ PooledStemBlock(const PooledStemParams& params, unsigned char* memory)
      : p_(params),
        memory_(memory),
        lane_(static_cast<int>(threadIdx.x) % 32),
        warp_(ptx::warp()),
        tile_n_(static_cast<int>(blockIdx.x) - first_tile() * static_cast<int>(p_.tiles_n.divisor)),
        stride_(static_cast<int>(gridDim.x) / static_cast<int>(p_.tiles_n.divisor)),
        barriers_{ptx::shared_address(memory + p_.barrier_at)} {}

  /// By all threads, together; each warpgroup then goes its way. Blocks take one tile after another.
  __device__ __forceinline__ void run() {
    if (warp_ == 0) {
      if (ptx::elected()) barriers_.init();
      __syncwarp();
    } else if (warp_ == 1) {
      ptx::prefetch_map(p_.image);
      ptx::prefetch_map(p_.pooled);
      if constexpr (kNext) ptx::prefetch_map(p_.behind);
    }
    __syncthreads();
    if (warp_ < 4) {
      ptx::give_registers<Groups::kLayOutRegisters>();
      lay_out();
    } else {
      ptx::take_registers<Groups::kMultiplyRegisters>();
      multiply(warp_ / 4 - 1);
    }
  }

  /// The thread that stores the block's last tile.
  __device__ __forceinline__ static unsigned last_thread(const PooledStemParams& p) {
    const int stride = static_cast<int>(gridDim.x) / static_cast<int>(p.tiles_n.divisor);
    const int first = static_cast<int>(p.tiles_n.divide(blockIdx.x));
    return 128u * (1 + (p.tiles_m - 1 - first) / stride % Groups::kMultiply);
  }

 private:
  /// Named barriers: 1 + group of those that multiply, and one of the warpgroup that lays out.
  static constexpr int kLaidOut = 1 + Groups::kMultiply;
  using Pair = typename PairOf<T>::Type;

  __device__ __forceinline__ int first_tile() const {
    return static_cast<int>(p_.tiles_n.divide(blockIdx.x));
  }
  __device__ __forceinline__ unsigned char* patch(int group) const {
    return memory_ + p_.patch_at + group * p_.patch_bytes;
  }
  __device__ __forceinline__ unsigned char* planes(int group) const {
    return memory_ + p_.planes_at + group * p_.planes_bytes;
  }
  /// Where a warpgroup's outputs of the pool lie, and after them those of the next convolution.
  __device__ __forceinline__ uint32_t outputs(int group) const {
    return ptx::shared_address(memory_) + group * (kNext ? 2 : 1) * TileT::kBytes;
  }
  __device__ __forceinline__ uint32_t next_outputs(int group) const { return outputs(group) + TileT::kBytes; }
  /// The first of a thread's two filters; the other is eight further.
  __device__ __forceinline__ int filter() const {
    return tile_n_ * kPooledStemFilters + warp_ % 4 * 16 + lane_ / 4;
  }

  /// Asked for before the kernel ahead has finished, and not waited for.
  __device__ __forceinline__ void load_filters() {
    load_left(filters_, static_cast<const uint4*>(p_.w) + tile_n_ * kPooledStemSteps * 128);
#pragma unroll
    for (int h = 0; h < 2; ++h) bias_[h] = p_.bias == nullptr ? 0 : __ldg(p_.bias + filter() + 8 * h);
    if constexpr (kNext) load_next_filters();
  }

  /// Each thread's own to shared memory: registers are scarce while the stem is multiplied.
  __device__ __forceinline__ void load_next_filters() {
    const auto* const from = static_cast<const uint4*>(p_.next.w) + threadIdx.x % 128;
#pragma unroll
    for (int s = 0; s < kStemNextSteps; ++s) next_filters()[s * 128] = ptx::load_constant(from + s * 128);
#pragma unroll
    for (int h = 0; h < 2; ++h)
      next_bias_[h] = p_.next.bias == nullptr ? 0 : __ldg(p_.next.bias + filter() + 8 * h);
  }
  __device__ __forceinline__ uint4* next_filters() const {
    return reinterpret_cast<uint4*>(memory_ + p_.next_at + (warp_ / 4 - 1) * kStemNextBytes) +
           threadIdx.x % 128;
  }

  /// The warpgroup that makes patches of planes.
  __device__ __forceinline__ void lay_out() const {
    int tile = first_tile();
    if (warp_ == 0) {
      ptx::wait_for_previous_kernel();
      for (int i = 0; i < Groups::kMultiply; ++i) fetch(tile + i * stride_, i);
    }
    RingPlace place;
    for (; tile < p_.tiles_m; tile += stride_) {
      const int shift = column_shift(first_column(p_, StemCorner(p_, tile)));
      ptx::wait_barrier(barriers_.planes_full(place.stage), place.parity);
      ptx::wait_barrier(barriers_.patch_empty(place.stage), place.parity ^ 1);
      interleave_planes<T, 4, 128, 2>(p_, reinterpret_cast<const float4*>(planes(place.stage)),
                                      reinterpret_cast<T*>(patch(place.stage)) + patch_skip<4>(shift) * 4);
      ptx::fence_for_copies();  // wgmma reads what was written, and the copy unit writes what was read
      arrive(barriers_.patch_full(place.stage));
      ptx::sync_threads(kLaidOut, 128);
      if (warp_ == 0) fetch(tile + Groups::kMultiply * stride_, place.stage);
      place.next(Groups::kMultiply);
    }
  }

  /// Called by a warp.
  __device__ __forceinline__ void fetch(int tile, int group) const {
    if (tile < p_.tiles_m && ptx::elected())
      fetch_planes(p_, StemCorner(p_, tile), ptx::shared_address(planes(group)),
                   barriers_.planes_full(group));
    __syncwarp();
  }

  /// Once for each warp.
  __device__ __forceinline__ static void arrive(uint32_t barrier) {
    __syncwarp();
    if (ptx::elected()) ptx::arrive(barrier);
    __syncwarp();
  }

  /// A warpgroup that computes some of the block's tiles, taking turns with the others.
  __device__ __forceinline__ void multiply(int group) {
    load_filters();
    ptx::wait_for_previous_kernel();
    uint32_t parity = 0;
    for (int tile = first_tile() + group * stride_; tile < p_.tiles_m; tile += Groups::kMultiply * stride_) {
      const StemCorner corner(p_, tile);
      float sums[2][TileT::kN / 2];
      begin(sums);
      ptx::wait_barrier(barriers_.patch_full(group), parity);
      ptx::wait_barrier(barriers_.turn(group, warp_ % 4), group == 0 ? parity ^ 1 : parity);
      start_products(corner, group, sums);
      arrive(barriers_.turn((group + 1) % Groups::kMultiply, warp_ % 4));
      ptx::wait_products<0>();
#pragma unroll
      for (int i = 0; i < TileT::kN / 2; ++i) {
        ptx::hold(sums[0][i]);
        ptx::hold(sums[1][i]);
      }
      arrive(barriers_.patch_empty(group));
      parity ^= 1;
      if (!inside(corner)) exclude_outside(corner, sums);
      by_one_thread([] { ptx::wait_stores_read(); });
      ptx::sync_threads(1 + group, 128);
      pool(sums, outputs(group));
      hand_over(group);
      by_one_thread([&] { store(p_.pooled, corner, outputs(group), tile_n_ * kPooledStemFilters); });
      if constexpr (kNext) {
        multiply_pooled(group);
        hand_over(group);
        by_one_thread([&] { store(p_.behind, corner, next_outputs(group), 0); });
      }
    }
    by_one_thread([] { ptx::wait_stores_read(); });
  }

  /// Hands over the shared memory that all threads of a warpgroup have written to wgmma and the copy unit.
  __device__ __forceinline__ static void hand_over(int group) {
    ptx::fence_for_copies();
    ptx::sync_threads(1 + group, 128);
  }

  /// Lets one thread of a warpgroup act, always the same one, since stores are waited for by the thread that
  /// began them.
  template <class Do>
  __device__ __forceinline__ void by_one_thread(const Do& act) const {
    if (warp_ % 4 != 0) return;
    if (ptx::elected()) act();
    __syncwarp();
  }

  /// The compiler would begin the second half's after the first product.
  __device__ __forceinline__ void begin(float (&sums)[2][TileT::kN / 2]) const {
#pragma unroll
    for (int i = 0; i < TileT::kN / 2; ++i) {
      sums[0][i] = sums[1][i] = bias_[i / 2 % 2];
      ptx::hold(sums[0][i]);
      ptx::hold(sums[1][i]);
    }
  }

  /// Starts the products of both halves with the whole depth. Windows are 16 bytes apart.
  __device__ __forceinline__ void start_products(const StemCorner& corner, int group,
                                                 float (&sums)[2][TileT::kN / 2]) const {
    constexpr int kPixelBytes = 8;
    const int shift = column_shift(first_column(p_, corner));
    const uint32_t windows = ptx::shared_address(patch(group)) + (shift + patch_skip<4>(shift)) * kPixelBytes;
    const int row_bytes = p_.patch_width * kPixelBytes;
    uint64_t right = ptx::plain_descriptor(windows, 16, p_.stride_h * row_bytes);
    ptx::fence_sums();
#pragma unroll
    for (int s = 0; s < kPooledStemSteps; ++s) {
#pragma unroll
      for (int half = 0; half < 2; ++half)
        ptx::multiply<T, TileT::kN>(sums[half], filters_[s],
                                    right + s % 2 * (32 >> 4) + half * (8 * 16 >> 4));
      if (s % 2 != 0) right += row_bytes >> 4;
    }
    ptx::commit_products();
  }

  __device__ __forceinline__ bool inside(const StemCorner& corner) const {
    return corner.y >= 0 && corner.x >= 0 && corner.y + TileT::kRows <= p_.out_height &&
           corner.x + TileT::kColumns <= p_.out_width;
  }

  /// Elements outside of the convolution's result are smaller than all that windows cover.
  __device__ __forceinline__ void exclude_outside(const StemCorner& corner,
                                                  float (&sums)[2][TileT::kN / 2]) const {
#pragma unroll
    for (int i = 0; i < TileT::kN / 2; ++i) {
      const bool row = static_cast<unsigned>(corner.y + i / 4) < static_cast<unsigned>(p_.out_height);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int x = corner.x + half * 8 + lane_ % 4 * 2 + i % 2;
        if (!row || static_cast<unsigned>(x) >= static_cast<unsigned>(p_.out_width))
          sums[half][i] = -INFINITY;
      }
    }
  }

  /// The pool of two columns of both halves, as a pair: the largest of three rows of each, and then of a
  /// window's three columns. Rounding keeps the order of numbers, so that it may come before.
  __device__ __forceinline__ uint32_t pooled(const float (&sums)[2][TileT::kN / 2], int row, int h) const {
    Pair columns[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float most[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float* const first = sums[half] + 4 * 2 * row + 2 * h + i;
        most[half] = ptx::larger(ptx::larger(first[0], first[4]), first[8]);
      }
      narrow(make_float2(most[0], most[1]), columns[i]);
    }
    // The first column of the next thread follows a thread's columns; that of the right half follows the left
    // half's last ones. After the right half's there is no window.
    uint32_t shown = reinterpret_cast<const uint32_t&>(columns[0]);
    if (lane_ % 4 == 0) shown = shown >> 16 | (shown & 0xffff0000);
    const uint32_t next = __shfl_sync(0xffffffff, shown, (lane_ & ~3) | ((lane_ + 1) & 3));
    Pair result = __hmax2_nan(__hmax2_nan(columns[0], columns[1]), reinterpret_cast<const Pair&>(next));
    Pair low;
    Pair high;
    narrow(make_float2(p_.finish.low, p_.finish.low), low);
    narrow(make_float2(p_.finish.high, p_.finish.high), high);
    result = __hmin2_nan(__hmax2_nan(result, low), high);
    return reinterpret_cast<const uint32_t&>(result);
  }

  /// Where 16 bytes of a pooled pixel lie, swizzled by 128 bytes as products and the copy unit take them.
  __device__ __forceinline__ static int place(int pixel, int piece) {
    return pixel * TileT::kPixelBytes + (piece ^ pixel % 8) * 16;
  }

  /// Pairs of a row of the pool and eight filters are a matrix of 8 x 8, filters down and columns across: of
  /// two neighbours the first is of the left half. The column that is under no window comes after all pixels,
  /// a bank of its own again.
  __device__ __forceinline__ void pool(const float (&sums)[2][TileT::kN / 2], uint32_t outputs) const {
    const int column = lane_ % 2 * 4 + lane_ % 8 / 2;
    const int piece = warp_ % 4 * 2 + lane_ / 8 % 2;
#pragma unroll
    for (int row = 0; row < TileT::kPooledRows; ++row) {
      const int pixel =
          column < TileT::kPooledColumns ? row * TileT::kPooledColumns + column : TileT::kPlaces - 1 - row;
      ptx::store_matrix_x2_transposed(outputs + place(pixel, piece),
                                      {pooled(sums, row, 0), pooled(sums, row, 1)});
    }
  }

  /// The convolution of the pooled pixels; columns beyond them reach no result.
  __device__ __forceinline__ void multiply_pooled(int group) const {
    constexpr int kN = TileT::kPlaces;
    uint32_t filters[kStemNextSteps][4];
    float sums[kN / 2];
#pragma unroll
    for (int s = 0; s < kStemNextSteps; ++s)
      ptx::load_words(filters[s], ptx::shared_address(next_filters() + s * 128));
#pragma unroll
    for (int i = 0; i < kN / 2; ++i) {
      sums[i] = next_bias_[i / 2 % 2];
      ptx::hold(sums[i]);
    }
    ptx::fence_sums();
    const uint64_t pixels = ptx::matrix_descriptor(outputs(group));
#pragma unroll
    for (int s = 0; s < kStemNextSteps; ++s) ptx::multiply<T, kN>(sums, filters[s], pixels + s * 2);
    ptx::commit_products();
    ptx::wait_products<0>();
#pragma unroll
    for (float& sum : sums) ptx::hold(sum);
    const PairFinish<T, StreamKind::kBounds> finish(p_.next.bounds);
    const uint32_t to = next_outputs(group) + place(lane_ % 8, warp_ % 4 * 2 + lane_ / 8 % 2);
#pragma unroll
    for (int i = 0; i < kN / 8; ++i) {
      uint32_t pairs[2];
#pragma unroll
      for (int h = 0; h < 2; ++h)
        finish.run(make_float2(sums[4 * i + 2 * h], sums[4 * i + 2 * h + 1]), pairs[h]);
      ptx::store_matrix_x2_transposed(to + i * 8 * TileT::kPixelBytes, pairs);
    }
  }

  /// Stores to memory; elements outside are not written. One thread.
  __device__ __forceinline__ void store(const CUtensorMap& map, const StemCorner& corner, uint32_t outputs,
                                        int filter) const {
    ptx::store_pixels(map, outputs, filter, (corner.x - p_.first_x) / 2, (corner.y - p_.first_y) / 2,
                      corner.image);
    ptx::commit_stores();
  }

  const PooledStemParams& p_;
  unsigned char* memory_;
  int lane_;
  int warp_;
  int tile_n_;
  int stride_;  ///< from one of the block's tiles to the next
  PooledStemBarriers barriers_;
  uint32_t filters_[kPooledStemSteps][4];
  float bias_[2];
  float next_bias_[2];
};

template <class T, class TileT, bool kNext>
__global__ void __launch_bounds__(PooledStemGroups::kThreads, 1)
    warpgroup_pooled_stem(const __grid_constant__ PooledStemParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp, stamp == nullptr ? 0 : PooledStemBlock<T, TileT, kNext>::last_thread(p));
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  PooledStemBlock<T, TileT, kNext>(p, memory).run();
}

}  // namespace hone::device::cuda
