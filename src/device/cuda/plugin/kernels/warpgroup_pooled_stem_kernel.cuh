// The stem and its pool by lone warpgroups. Filters are the left matrix and stay in registers for all tiles
// of a block, so that products take pixels alone from shared memory, half of what both matrices would ask of
// it. A thread's sums are two filters' outputs of two neighbouring columns in all rows of a tile, so that
// they are pooled where they are, too. While a tile is multiplied, the pixels of the next are laid out. What
// the pool gives can be multiplied once more where it lies: its pixels are the right matrix then.
#pragma once

#include <cmath>

#include "device/cuda/plugin/kernels/gemm_steps.cuh"
#include "device/cuda/plugin/kernels/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/left_matrices.cuh"
#include "device/cuda/plugin/kernels/stem_planes.cuh"
#include "device/cuda/plugin/kernels/warpgroup_gemm_finish.cuh"
#include "device/cuda/plugin/kernels/warpgroup_pooled_stem_params.hpp"

namespace hone::device::cuda {

template <class T, class TileT, bool kNext>
class PooledStemBlock {
 public:
  __device__ __forceinline__ PooledStemBlock(const PooledStemParams& params, unsigned char* memory)
      : p_(params),
        memory_(memory),
        lane_(static_cast<int>(threadIdx.x) % 32),
        tile_n_(static_cast<int>(blockIdx.x) - first_tile() * static_cast<int>(p_.tiles_n.divisor)) {}

  /// By all threads. Blocks take one tile after another.
  __device__ __forceinline__ void run() {
    if (threadIdx.x == 0) {
      ptx::prefetch_map(p_.image);
      ptx::init_barrier(barrier(), 1);
      ptx::fence_barriers();
    }
    __syncthreads();
    load_filters();
    ptx::wait_for_previous_kernel();
    const int stride = static_cast<int>(gridDim.x) / static_cast<int>(p_.tiles_n.divisor);
    const int first = first_tile();
    if (threadIdx.x == 0) fetch(first);
    lay_out(first, stride, 0);
    int patch = 0;
    // Warps multiply and store matrices as a whole: their threads meet behind what some of them do alone.
    for (int tile = first; tile < p_.tiles_m; tile += stride) {
      const StemCorner corner(p_, tile);
      float sums[2][TileT::kN / 2];
      begin(sums);
      start_products(corner, patch, sums);
      patch ^= 1;
      lay_out(tile + stride, stride, patch);
      ptx::wait_products<0>();
      if (!inside(corner)) exclude_outside(corner, sums);
      pool(sums);
      if constexpr (kNext) ptx::fence_for_copies();  // wgmma reads it
      __syncthreads();
      store(corner, p_.y, p_.filters);
      __syncwarp();
      if constexpr (kNext) {
        multiply_pooled();
        __syncthreads();
        store(corner, p_.next.y, StemNext::kChannels);
        __syncwarp();
      }
    }
  }

 private:
  using Pair = typename PairOf<T>::Type;

  __device__ __forceinline__ int first_tile() const {
    return static_cast<int>(p_.tiles_n.divide(blockIdx.x));
  }
  __device__ __forceinline__ uint32_t barrier() const { return ptx::shared_address(memory_ + p_.barrier_at); }
  __device__ __forceinline__ unsigned char* patch(int number) const {
    return memory_ + p_.patch_at + number * p_.patch_bytes;
  }
  /// The first of a thread's two filters; the other is eight further.
  __device__ __forceinline__ int filter() const {
    return tile_n_ * kPooledStemFilters + static_cast<int>(threadIdx.x) / 32 * 16 + lane_ / 4;
  }

  /// Asked for before the kernel ahead has finished, and not waited for.
  __device__ __forceinline__ void load_filters() {
    load_left(filters_, static_cast<const uint4*>(p_.w) + tile_n_ * kPooledStemSteps * kPooledStemThreads);
#pragma unroll
    for (int h = 0; h < 2; ++h) bias_[h] = p_.bias == nullptr ? 0 : __ldg(p_.bias + filter() + 8 * h);
    if constexpr (kNext) load_next_filters();
  }

  /// Each thread's own to shared memory: registers are scarce while the stem is multiplied.
  __device__ __forceinline__ void load_next_filters() {
    const auto* const from = static_cast<const uint4*>(p_.next.w) + threadIdx.x;
#pragma unroll
    for (int s = 0; s < kStemNextSteps; ++s)
      next_filters()[s * kPooledStemThreads] = ptx::load_constant(from + s * kPooledStemThreads);
#pragma unroll
    for (int h = 0; h < 2; ++h)
      next_bias_[h] = p_.next.bias == nullptr ? 0 : __ldg(p_.next.bias + filter() + 8 * h);
  }
  __device__ __forceinline__ uint4* next_filters() const {
    return reinterpret_cast<uint4*>(memory_ + p_.next_at) + threadIdx.x;
  }

  __device__ __forceinline__ void fetch(int tile) const {
    fetch_planes(p_, StemCorner(p_, tile), ptx::shared_address(memory_ + p_.planes_at), barrier());
  }

  /// Makes a patch of the planes, which then make room for those of the tile after. What was written to
  /// shared memory before is visible after it, also where there is no such tile.
  __device__ __forceinline__ void lay_out(int tile, int stride, int number) {
    if (tile < p_.tiles_m) {
      ptx::wait_barrier(barrier(), parity_);
      parity_ ^= 1;
      const int shift = column_shift(first_column(p_, StemCorner(p_, tile)));
      interleave_planes<T, 4, kPooledStemThreads>(
          p_, reinterpret_cast<const float4*>(memory_ + p_.planes_at),
          reinterpret_cast<T*>(patch(number)) + patch_skip<4>(shift) * 4);
      ptx::fence_for_copies();  // wgmma reads what was written, and the copy unit writes what was read
    }
    __syncthreads();
    if (threadIdx.x == 0 && tile + stride < p_.tiles_m) fetch(tile + stride);
    __syncwarp();
  }

  /// The compiler would begin the second half's behind the first product.
  __device__ __forceinline__ void begin(float (&sums)[2][TileT::kN / 2]) const {
#pragma unroll
    for (int i = 0; i < TileT::kN / 2; ++i) {
      sums[0][i] = sums[1][i] = bias_[i / 2 % 2];
      ptx::hold(sums[0][i]);
      ptx::hold(sums[1][i]);
    }
  }

  /// Of both halves with the whole depth. Windows are 16 bytes apart.
  __device__ __forceinline__ void start_products(const StemCorner& corner, int number,
                                                 float (&sums)[2][TileT::kN / 2]) const {
    constexpr int kPixelBytes = 8;
    const int shift = column_shift(first_column(p_, corner));
    const uint32_t windows =
        ptx::shared_address(patch(number)) + (shift + patch_skip<4>(shift)) * kPixelBytes;
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

  /// What lies outside of the convolution's result is smaller than all that windows cover.
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
    // Behind a thread's columns comes the first of the next thread; behind the left half's last ones that of
    // the right half. Behind the right half's there is no window.
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

  /// Where 16 bytes of a pooled pixel lie: those of the eight columns in banks of their own.
  __device__ __forceinline__ static int place(int row, int column, int piece) {
    return row * TileT::kRowBytes + column * TileT::kPixelBytes + (piece ^ column) * 16;
  }

  /// Pairs of a row of the pool and eight filters are a matrix of 8 x 8, filters down and columns across: of
  /// two neighbours the first is of the left half.
  __device__ __forceinline__ void pool(const float (&sums)[2][TileT::kN / 2]) const {
    const int column = lane_ % 2 * 4 + lane_ % 8 / 2;
    const int piece = static_cast<int>(threadIdx.x) / 32 * 2 + lane_ / 8 % 2;
    const uint32_t to = ptx::shared_address(memory_ + place(0, column, piece));
#pragma unroll
    for (int row = 0; row < TileT::kPooledRows; ++row)
      ptx::store_matrix_x2_transposed(to + row * TileT::kRowBytes,
                                      {pooled(sums, row, 0), pooled(sums, row, 1)});
  }

  /// The convolution of what was pooled, in its place. Rows that the pool does not have hold anything and
  /// reach no result.
  __device__ __forceinline__ void multiply_pooled() const {
    constexpr int kN = 8 * TileT::kPlaceRows;
    uint32_t filters[kStemNextSteps][4];
    float sums[kN / 2];
#pragma unroll
    for (int s = 0; s < kStemNextSteps; ++s)
      ptx::load_words(filters[s], ptx::shared_address(next_filters() + s * kPooledStemThreads));
#pragma unroll
    for (int i = 0; i < kN / 2; ++i) {
      sums[i] = next_bias_[i / 2 % 2];
      ptx::hold(sums[i]);
    }
    ptx::fence_sums();
    const uint64_t pixels = ptx::matrix_descriptor(ptx::shared_address(memory_));
#pragma unroll
    for (int s = 0; s < kStemNextSteps; ++s) ptx::multiply<T, kN>(sums, filters[s], pixels + s * 2);
    ptx::commit_products();
    ptx::wait_products<0>();
#pragma unroll
    for (float& sum : sums) ptx::hold(sum);
    __syncthreads();  // all have stored and multiplied what lies there
    const PairFinish<T, StreamKind::kBounds> finish(p_.next.bounds);
    const uint32_t to = ptx::shared_address(
        memory_ + place(0, lane_ % 8, static_cast<int>(threadIdx.x) / 32 * 2 + lane_ / 8 % 2));
#pragma unroll
    for (int row = 0; row < TileT::kPooledRows; ++row) {
      uint32_t pairs[2];
#pragma unroll
      for (int h = 0; h < 2; ++h)
        finish.run(make_float2(sums[4 * row + 2 * h], sums[4 * row + 2 * h + 1]), pairs[h]);
      ptx::store_matrix_x2_transposed(to + row * TileT::kRowBytes, pairs);
    }
  }

  /// To memory; a thread takes eight filters of a pixel.
  __device__ __forceinline__ void store(const StemCorner& corner, void* image, int filters) const {
    constexpr int kPieces = kPooledStemFilters / 8;
    const int piece = static_cast<int>(threadIdx.x) % kPieces;
    const int column = static_cast<int>(threadIdx.x) / kPieces % 8;
    const int x = (corner.x - p_.first_x) / 2 + column;
    if (column >= TileT::kPooledColumns || x >= p_.pooled_width) return;
    constexpr int kRowsAtOnce = kPooledStemThreads / kPieces / 8;
    for (int row = static_cast<int>(threadIdx.x) / kPieces / 8; row < TileT::kPooledRows;
         row += kRowsAtOnce) {
      const int y = (corner.y - p_.first_y) / 2 + row;
      if (y >= p_.pooled_height) return;
      const int64_t to = (static_cast<int64_t>(corner.image) * p_.pooled_height + y) * p_.pooled_width + x;
      *reinterpret_cast<uint4*>(static_cast<T*>(image) + to * filters + tile_n_ * kPooledStemFilters +
                                piece * 8) =
          *reinterpret_cast<const uint4*>(memory_ + place(row, column, piece));
    }
  }

  const PooledStemParams& p_;
  unsigned char* memory_;
  int lane_;
  int tile_n_;
  uint32_t filters_[kPooledStemSteps][4];
  float bias_[2];
  float next_bias_[2];
  uint32_t parity_ = 0;
};

template <class T, class TileT, bool kNext>
__global__ void __launch_bounds__(kPooledStemThreads, TileT::kBlocks)
    warpgroup_pooled_stem(const __grid_constant__ PooledStemParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  PooledStemBlock<T, TileT, kNext>(p, memory).run();
}

}  // namespace hone::device::cuda
