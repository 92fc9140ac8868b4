// Loads of the implicit GEMM: the 16-byte pieces of x and w
// that each thread copies, and their places in shared memory.
#pragma once

#include "device/cuda/plugin/kernels/common/ptx.cuh"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_params.hpp"

namespace hone::device::cuda {

/// A block's tile: kM pixels by kN filters, computed by kWarpsM by kWarpsN warps. The depth of a stage is kK
/// elements of two bytes, or kK / 2 of four.
template <int kM_, int kN_, int kK_, int kWarpsM_, int kWarpsN_>
struct Tile {
  static constexpr int kM = kM_;
  static constexpr int kN = kN_;
  static constexpr int kK = kK_;
  static constexpr int kWarpsM = kWarpsM_;
  static constexpr int kWarpsN = kWarpsN_;
  static constexpr int kThreads = kWarpsM * kWarpsN * 32;
  /// The number of 16-byte chunks in a row of a stage.
  static constexpr int kChunks = kK / 8;
  /// The number of rows that the block copies at once, one chunk for each thread.
  static constexpr int kRowsAtOnce = kThreads / kChunks;
  static constexpr int kPassesM = kM / kRowsAtOnce;
  static constexpr int kPassesN = kN / kRowsAtOnce;
  static constexpr int kRowBytes = kK * 2;
  static constexpr int kBytesM = kM * kRowBytes;
  static constexpr int kStageBytes = kBytesM + kN * kRowBytes;
  static_assert(kM % kRowsAtOnce == 0 && kN % kRowsAtOnce == 0 && kRowsAtOnce % 8 == 0);
  static_assert(kM % (kWarpsM * 16) == 0 && kN % (kWarpsN * 16) == 0 && kN <= kThreads);

  /// A row's chunk numbers are XORed with this number. The same chunk of 8 rows then lies in 8 different bank
  /// groups, and ldmatrix has no conflicts. Two rows of 64 bytes share a line of 128.
  static __device__ __forceinline__ int swizzle(int row) { return kK == 32 ? (row >> 1) & 3 : row & 7; }
};

/// One thread's part of every stage: chunk `chunk` of rows `first_row`, `first_row` + kRowsAtOnce, ...
template <class T, class TileT>
struct StageLoader {
  __device__ __forceinline__ StageLoader(const GemmParams& p, int tile_n)
      : chunk(static_cast<int>(threadIdx.x) % TileT::kChunks),
        first_row(static_cast<int>(threadIdx.x) / TileT::kChunks),
        target(first_row * TileT::kRowBytes + ((chunk ^ TileT::swizzle(first_row)) << 4)),
        filter(tile_n * TileT::kN + first_row),
        filter_offset(filter * p.depth) {}

  /// Copies this thread's part of w for step `step` of the depth.
  __device__ __forceinline__ void load_filters(const GemmParams& p, int step, uint32_t stage) const {
    const int k = depth_of(step);
    const T* const w = static_cast<const T*>(p.w);
#pragma unroll
    for (int i = 0; i < TileT::kPassesN; ++i) {
      const bool valid = k < p.depth && filter + i * TileT::kRowsAtOnce < p.epilogue.filters;
      const int offset = filter_offset + i * TileT::kRowsAtOnce * p.depth + k;
      ptx::copy16(stage + TileT::kBytesM + target + i * TileT::kRowsAtOnce * TileT::kRowBytes,
                  w + (valid ? offset : 0), valid);
    }
  }

  /// The first element of this thread's chunk of step `step` along the depth.
  __device__ __forceinline__ int depth_of(int step) const {
    return (step * TileT::kChunks + chunk) * (16 / static_cast<int>(sizeof(T)));
  }

  int chunk;
  int first_row;
  int target;  ///< byte offset of this thread's first chunk in a stage
  int filter;
  int filter_offset;
};

/// Pixels of a convolution that is a plain matrix product.
template <class T, class TileT>
struct PointwisePixels {
  __device__ __forceinline__ PointwisePixels(const GemmParams& p, const StageLoader<T, TileT>& loader,
                                             int tile_m)
      : row(tile_m * TileT::kM + loader.first_row), offset(row * p.depth) {}

  __device__ __forceinline__ void load(const GemmParams& p, const StageLoader<T, TileT>& loader, int step,
                                       uint32_t stage) const {
    const int k = loader.depth_of(step);
    const T* const x = static_cast<const T*>(p.x);
#pragma unroll
    for (int i = 0; i < TileT::kPassesM; ++i) {
      const bool valid = k < p.depth && row + i * TileT::kRowsAtOnce < p.epilogue.rows;
      ptx::copy16(stage + loader.target + i * TileT::kRowsAtOnce * TileT::kRowBytes,
                  x + (valid ? offset + i * TileT::kRowsAtOnce * p.depth + k : 0), valid);
    }
  }

  int row;
  int offset;
};

/// Pixels under a moving window, with padding: the general case.
template <class T, class TileT>
struct WindowPixels {
  __device__ __forceinline__ WindowPixels(const GemmParams& p, const StageLoader<T, TileT>& loader,
                                          int tile_m) {
#pragma unroll
    for (int i = 0; i < TileT::kPassesM; ++i) {
      const int row = tile_m * TileT::kM + loader.first_row + i * TileT::kRowsAtOnce;
      const int image = static_cast<int>(p.epilogue.pixels.divide(row));
      const int pixel = row - image * static_cast<int>(p.epilogue.pixels.divisor);
      const int out_y = static_cast<int>(p.out_width.divide(pixel));
      const int out_x = pixel - out_y * static_cast<int>(p.out_width.divisor);
      const int y = out_y * p.stride_h - p.pad_top;
      left[i] = out_x * p.stride_w - p.pad_left;
      // For a row past the last, the window lies far above the image, where every tap is padding.
      top[i] = row < p.epilogue.rows ? y : -(1 << 24);
      offset[i] = image * p.image_pitch + y * p.row_pitch + left[i] * p.pixel_pitch;
    }
  }

  __device__ __forceinline__ void load(const GemmParams& p, const StageLoader<T, TileT>& loader, int step,
                                       uint32_t stage) const {
    const int k = loader.depth_of(step);
    const int tap = static_cast<int>(p.channels.divide(k));
    const int channel = k - tap * static_cast<int>(p.channels.divisor);
    const int tap_y = static_cast<int>(p.kernel_w.divide(tap));
    const int tap_x = tap - tap_y * static_cast<int>(p.kernel_w.divisor);
    const int down = tap_y * p.dilation_h;
    const int right = tap_x * p.dilation_w;
    const int delta = down * p.row_pitch + right * p.pixel_pitch + channel;
    const T* const x = static_cast<const T*>(p.x);
#pragma unroll
    for (int i = 0; i < TileT::kPassesM; ++i) {
      const bool valid = k < p.depth &&
                         static_cast<unsigned>(top[i] + down) < static_cast<unsigned>(p.height) &&
                         static_cast<unsigned>(left[i] + right) < static_cast<unsigned>(p.width);
      ptx::copy16(stage + loader.target + i * TileT::kRowsAtOnce * TileT::kRowBytes,
                  x + (valid ? offset[i] + delta : 0), valid);
    }
  }

  int top[TileT::kPassesM];
  int left[TileT::kPassesM];
  int offset[TileT::kPassesM];
};

}  // namespace hone::device::cuda
