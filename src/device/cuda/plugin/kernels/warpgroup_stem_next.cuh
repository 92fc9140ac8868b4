// The convolution of 1 x 1 behind a stem's pool. What a tile pools, 7 x 7 pixels of 64 channels, is kept in
// shared memory as the rows of a matrix too, and multiplied there before the next tile: each warpgroup makes
// half of the channels.
#pragma once

#include "device/cuda/plugin/kernels/warpgroup_gemm_finish.cuh"
#include "device/cuda/plugin/kernels/warpgroup_stem_params.hpp"

namespace hone::device::cuda {

inline constexpr int kStemThreads = 256;

/// Where a tile's outputs begin.
struct StemCorner {
  int image;
  int y;
  int x;

  __device__ __forceinline__ StemCorner(const WarpgroupStemParams& p, int tile) {
    const int row = static_cast<int>(p.tiles_x.divide(tile));
    image = static_cast<int>(p.tiles_y.divide(row));
    x = p.first_x + (tile - row * static_cast<int>(p.tiles_x.divisor)) * p.tile_step;
    y = p.first_y + (row - image * static_cast<int>(p.tiles_y.divisor)) * p.tile_step;
  }

  /// Where what is pooled of them begins.
  __device__ __forceinline__ int pooled_y(const WarpgroupStemParams& p) const { return (y - p.first_y) / 2; }
  __device__ __forceinline__ int pooled_x(const WarpgroupStemParams& p) const { return (x - p.first_x) / 2; }
};

/// Where nothing is behind the pool.
struct StemNoProduct {
  using Params = WarpgroupStemParams;
  static constexpr bool kKeeps = false;
  __device__ __forceinline__ StemNoProduct(const WarpgroupStemParams&, unsigned char*, uint32_t) {}
  __device__ __forceinline__ void init() const {}
  __device__ __forceinline__ void fetch_filters() const {}
  __device__ __forceinline__ void prepare() const {}
  __device__ __forceinline__ void keep(int, int, const uint4&) const {}
  __device__ __forceinline__ void multiply(const StemCorner&) const {}
};

template <class T>
class StemNextProduct {
 public:
  using Params = StemNextParams;
  static constexpr bool kKeeps = true;

  /// `filters_barrier`: the place of a barrier of its own.
  __device__ __forceinline__ StemNextProduct(const StemNextParams& p, unsigned char* memory,
                                             uint32_t filters_barrier)
      : p_(p), memory_(memory), filters_barrier_(filters_barrier) {}

  /// By one thread, ahead of the fence and the barrier of the block.
  __device__ __forceinline__ void init() const {
    ptx::prefetch_map(p_.next_filters);
    ptx::init_barrier(filters_barrier_, 1);
  }

  /// By a warp. Filters do not depend on the kernel ahead.
  __device__ __forceinline__ void fetch_filters() const {
    if (!ptx::elected()) return;
    ptx::expect_copies(filters_barrier_, StemNextParams::kMatrixBytes);
    ptx::copy_pixels(ptx::shared_address(memory_ + p_.next_filters_at), p_.next_filters, filters_barrier_, 0,
                     0, 0, 0);
  }

  /// By all threads, while the first planes come: biases, and zeros in the rows that no pixel has.
  __device__ __forceinline__ void prepare() const {
    const int i = static_cast<int>(threadIdx.x);
    if (i < StemNextParams::kChannels) bias()[i] = p_.next_bias == nullptr ? 0.0f : p_.next_bias[i];
    if (i < (64 - kPixels) * kPieces) pooled()[kPixels * kPieces + i] = make_uint4(0, 0, 0, 0);
  }

  /// Eight channels of a pixel of the tile, be it inside of the image or not.
  __device__ __forceinline__ void keep(int pixel, int piece, const uint4& elements) const {
    pooled()[pixel * kPieces + (piece ^ (pixel & 7))] = elements;
  }

  /// By all threads, when the tile is pooled. Results pass through the place of the tile's outputs, which
  /// nobody reads any more then: a warp's 16 pixels, which it alone touches.
  __device__ __forceinline__ void multiply(const StemCorner& corner) const {
    ptx::fence_for_copies();  // wgmma reads what was kept
    __syncthreads();
    float sums[kN / 2];
    begin_with_bias(sums);
    ptx::wait_barrier(filters_barrier_, 0);
    const uint32_t filters = ptx::shared_address(memory_ + p_.next_filters_at);
    const uint64_t left = ptx::matrix_descriptor(ptx::shared_address(memory_ + p_.pooled_at));
    const uint64_t right =
        ptx::matrix_descriptor(filters + ptx::warpgroup() * kN * StemNextParams::kRowBytes);
#pragma unroll
    for (float& sum : sums) ptx::hold(sum);
    ptx::fence_sums();
#pragma unroll
    for (int k = 0; k < StemNextParams::kChannels / 16; ++k)
      ptx::multiply<T, kN>(sums, left + k * 2, right + k * 2);
    ptx::commit_products();
    ptx::wait_products<0>();
    lay_out(sums);
    __syncwarp();
    store(corner);
  }

 private:
  static constexpr int kN = StemNextParams::kChannels / 2;  ///< filters of a warpgroup
  static constexpr int kPixels = kPooledTile * kPooledTile;
  static constexpr int kPieces = StemNextParams::kRowBytes / 16;

  __device__ __forceinline__ float* bias() const {
    return reinterpret_cast<float*>(memory_ + p_.next_bias_at);
  }
  __device__ __forceinline__ uint4* pooled() const {
    return reinterpret_cast<uint4*>(memory_ + p_.pooled_at);
  }
  /// The first of the warp's 16 pixels.
  static __device__ __forceinline__ int first_row() { return ptx::warp() % 4 * 16; }
  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }

  __device__ __forceinline__ void begin_with_bias(float (&sums)[kN / 2]) const {
    const float* const mine = bias() + ptx::warpgroup() * kN + lane() % 4 * 2;
#pragma unroll
    for (int j = 0; j < kN / 8; ++j) {
      const float2 pair = *reinterpret_cast<const float2*>(mine + j * 8);
      sums[4 * j] = sums[4 * j + 2] = pair.x;
      sums[4 * j + 1] = sums[4 * j + 3] = pair.y;
    }
  }

  /// Finished sums as rows of pixels, swizzled.
  __device__ __forceinline__ void lay_out(const float (&sums)[kN / 2]) const {
    const PairFinish<T, StreamKind::kBounds> finish(p_.next_finish);
    const int row = first_row() + lane() % 16;
    const int piece = ptx::warpgroup() * (kPieces / 2) + lane() / 16;
    const uint32_t corner =
        ptx::shared_address(memory_) + row * StemNextParams::kRowBytes + (piece ^ (row & 7)) * 16;
#pragma unroll
    for (int j = 0; j < kN / 8; j += 2) {
      uint32_t pairs[4];
#pragma unroll
      for (int k = 0; k < 4; ++k)
        finish.run(make_float2(sums[4 * j + 2 * k], sums[4 * j + 2 * k + 1]), pairs[k]);
      ptx::store_matrix_x4(corner ^ (j * 16), pairs);
    }
  }

  /// A lane takes eight channels of every eighth pixel of the warp's.
  __device__ __forceinline__ void store(const StemCorner& corner) const {
    constexpr int kHalf = kPieces / 2;
    const int piece = ptx::warpgroup() * kHalf + lane() % kHalf;
#pragma unroll
    for (int i = 0; i < 16; i += 32 / kHalf) {
      const int pixel = first_row() + i + lane() / kHalf;
      const int y = corner.pooled_y(p_) + pixel / kPooledTile;
      const int x = corner.pooled_x(p_) + pixel % kPooledTile;
      if (pixel >= kPixels || y >= p_.pooled_height || x >= p_.pooled_width) continue;
      const int64_t to = (static_cast<int64_t>(corner.image) * p_.pooled_height + y) * p_.pooled_width + x;
      static_cast<uint4*>(p_.next_y)[to * kPieces + piece] =
          reinterpret_cast<const uint4*>(memory_)[pixel * kPieces + (piece ^ (pixel & 7))];
    }
  }

  const StemNextParams& p_;
  unsigned char* memory_;
  uint32_t filters_barrier_;
};

}  // namespace hone::device::cuda
