// The pixels that a tile of the resident GEMM reads, and their places in shared memory. The constructors
// compute everything that is known before the previous kernel has ended.
#pragma once

#include "device/cuda/plugin/kernels/common/ptx.cuh"
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm_params.hpp"

namespace hone::device::cuda {

/// The tile of a 1 x 1 kernel: a run of output pixels, with one pixel of the patch for each.
struct PixelTile {
  __device__ __forceinline__ PixelTile(const ResidentParams& p, int tile_m, int tile_pixels)
      : first(tile_m * tile_pixels), count(tile_pixels) {}

  __device__ __forceinline__ int patch_pixels(const ResidentParams&) const { return count; }

  /// Index in x of pixel `i` of the patch, or -1 for zeros.
  __device__ __forceinline__ int source(const ResidentParams& p, int i) const {
    const int pixel = first + i;
    if (pixel >= p.epilogue.rows) return -1;
    if (p.dense) return pixel;
    const int image = static_cast<int>(p.out_pixels.divide(pixel));
    const int rest = pixel - image * static_cast<int>(p.out_pixels.divisor);
    const int y = static_cast<int>(p.out_row.divide(rest));
    const int x = rest - y * static_cast<int>(p.out_row.divisor);
    return (image * p.height + y * p.stride_h) * p.width + x * p.stride_w;
  }

  /// Row of the product for pixel `i` of the tile, or -1 past the end.
  __device__ __forceinline__ int output(const ResidentParams& p, int i) const {
    return first + i < p.epilogue.rows ? first + i : -1;
  }

  /// Byte offset in the patch at which the window of the tile's pixel `i` starts.
  __device__ __forceinline__ int window(const ResidentParams& p, int i) const { return i * p.patch_pitch; }

  int first;
  int count;
};

/// The tile of a window: a rectangle of output pixels of one
/// image. The patch is the rectangle of pixels under it.
struct WindowTile {
  __device__ __forceinline__ WindowTile(const ResidentParams& p, int tile_m, int tile_pixels) {
    const int row = static_cast<int>(p.tiles_x.divide(tile_m));
    image = static_cast<int>(p.tiles_y.divide(row));
    x = (tile_m - row * static_cast<int>(p.tiles_x.divisor)) << p.tile_w_log2;
    y = (row - image * static_cast<int>(p.tiles_y.divisor)) * (tile_pixels >> p.tile_w_log2);
  }

  __device__ __forceinline__ int patch_pixels(const ResidentParams& p) const { return p.patch_pixels; }

  __device__ __forceinline__ int source(const ResidentParams& p, int i) const {
    const int down = static_cast<int>(p.patch_width.divide(i));
    const int from_y = y * p.stride_h - p.pad_top + down;
    const int from_x = x * p.stride_w - p.pad_left + i - down * static_cast<int>(p.patch_width.divisor);
    const bool inside = static_cast<unsigned>(from_y) < static_cast<unsigned>(p.height) &&
                        static_cast<unsigned>(from_x) < static_cast<unsigned>(p.width);
    return inside ? (image * p.height + from_y) * p.width + from_x : -1;
  }

  __device__ __forceinline__ int output(const ResidentParams& p, int i) const {
    const int to_y = y + (i >> p.tile_w_log2);
    const int to_x = x + (i & ((1 << p.tile_w_log2) - 1));
    return to_y < p.out_height && to_x < p.out_width ? (image * p.out_height + to_y) * p.out_width + to_x
                                                     : -1;
  }

  __device__ __forceinline__ int window(const ResidentParams& p, int i) const {
    return (i >> p.tile_w_log2) * p.down_pitch + (i & ((1 << p.tile_w_log2) - 1)) * p.right_pitch;
  }

  int image;
  int y;
  int x;
};

/// One thread's copies of the patch. The places of the first kAhead copies are computed early.
template <class T, class TileT, int kThreads>
struct PatchCopies {
  static constexpr int kAhead = 6;

  __device__ __forceinline__ PatchCopies(const ResidentParams& p, const TileT& tile, int part)
      : base(static_cast<const T*>(p.x) + part * p.slab),
        count(tile.patch_pixels(p) * static_cast<int>(p.slab_pieces.divisor)) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) place(p, tile, i, from[i], to[i]);
  }

  __device__ __forceinline__ void start(const ResidentParams& p, const TileT& tile, uint32_t patch) const {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (to[i] >= 0) ptx::copy16(patch + to[i], base + (from[i] < 0 ? 0 : from[i]), from[i] >= 0);
    }
#pragma unroll 1
    for (int i = kAhead; i * kThreads + static_cast<int>(threadIdx.x) < count; ++i) {
      int source;
      int target;
      place(p, tile, i, source, target);
      ptx::copy16(patch + target, base + (source < 0 ? 0 : source), source >= 0);
    }
  }

 private:
  /// Copy `i`: `source` is the element to read, or -1 for zeros;
  /// `target` is the byte of the patch to write, or -1 for none.
  __device__ __forceinline__ void place(const ResidentParams& p, const TileT& tile, int i, int& source,
                                        int& target) const {
    const int piece = i * kThreads + static_cast<int>(threadIdx.x);
    source = -1;
    target = -1;
    if (piece >= count) return;
    const int pixel = static_cast<int>(p.slab_pieces.divide(piece));
    const int rest = piece - pixel * static_cast<int>(p.slab_pieces.divisor);
    const int from_pixel = tile.source(p, pixel);
    if (from_pixel >= 0) source = from_pixel * p.channels + rest * 8;
    target = pixel * p.patch_pitch + rest * 16;
  }

  const T* base;
  int count;
  int from[kAhead];
  int to[kAhead];
};

}  // namespace hone::device::cuda
