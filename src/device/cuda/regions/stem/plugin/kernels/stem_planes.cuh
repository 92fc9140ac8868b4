// The planes of an image under a tile: the copy unit brings them, zeros around the image included, and
// threads round and interleave them to a patch of pixels of 8 or 16 bytes. Windows start 16 bytes apart, so
// that the windows' rows of eight neighbouring outputs overlap just as wgmma reads eight rows of 16 bytes:
// the patch is multiplied where it lies, and no window is ever laid out.
#pragma once

#include "device/cuda/plugin/kernels/common/wgmma.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_steps.cuh"
#include "device/cuda/regions/stem/plugin/kernels/stem_planes.hpp"

namespace hone::device::cuda {

/// The beginning of a tile's outputs.
struct StemCorner {
  int image;
  int y;
  int x;

  __device__ __forceinline__ StemCorner(const StemPlanes& p, int tile) {
    const int row = static_cast<int>(p.tiles_x.divide(tile));
    image = static_cast<int>(p.tiles_y.divide(row));
    x = p.first_x + (tile - row * static_cast<int>(p.tiles_x.divisor)) * p.step_x;
    y = p.first_y + (row - image * static_cast<int>(p.tiles_y.divisor)) * p.step_y;
  }
};

/// The first column of the image under a tile, and its distance from a column at which the copy unit can
/// begin.
__device__ __forceinline__ int first_column(const StemPlanes& p, const StemCorner& corner) {
  return corner.x * p.stride_w - p.pad_left;
}
__device__ __forceinline__ int column_shift(int column) { return column & (kStemColumns - 1); }

/// Pixels by which a patch begins later, so that its first window begins at a multiple of 16 bytes.
template <int kChannels>
__device__ __forceinline__ int patch_skip(int shift) {
  return kChannels == 4 ? shift & 1 : 0;
}

/// Has the copy unit bring a tile's planes; one thread.
__device__ __forceinline__ void fetch_planes(const StemPlanes& p, const StemCorner& corner, uint32_t planes,
                                             uint32_t barrier) {
  const int column = first_column(p, corner);
  ptx::expect_copies(barrier, p.patch_height * p.patch_width * p.image_channels * 4);
  ptx::copy_planes(planes, p.image, barrier, column - column_shift(column), corner.y * p.stride_h - p.pad_top,
                   corner.image);
}

/// Turns four values by `turn` places, without an index of registers.
template <class T>
__device__ __forceinline__ void turn_four(T (&values)[4], int turn) {
#pragma unroll
  for (int by = 1; by <= 2; ++by) {
    const bool turns = (turn & by) != 0;
    T turned[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) turned[i] = turns ? values[(i + by) % 4] : values[i];
#pragma unroll
    for (int i = 0; i < 4; ++i) values[i] = turned[i];
  }
}

/// Four neighbouring pixels of kChannels elements, in pairs of channels.
template <class T, int kChannels>
class FourPixels {
 public:
  __device__ __forceinline__ explicit FourPixels(const float4 (&planes)[kChannels]) {
#pragma unroll
    for (int c = 0; c < kChannels; c += 2) {
      const float4& low = planes[c];
      const float4& high = planes[c + 1];
      pairs_[0][c / 2] = rounded(low.x, high.x);
      pairs_[1][c / 2] = rounded(low.y, high.y);
      pairs_[2][c / 2] = rounded(low.z, high.z);
      pairs_[3][c / 2] = rounded(low.w, high.w);
    }
  }

  /// 8-byte stores of threads four apart would hit the same banks: each begins with another.
  __device__ __forceinline__ void store(T* to) const {
    if constexpr (kChannels == 4) {
      const int turn = static_cast<int>(threadIdx.x) / 4 % 4;
      uint2 turned[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) turned[k] = make_uint2(pairs_[k][0], pairs_[k][1]);
      turn_four(turned, turn);
#pragma unroll
      for (int k = 0; k < 4; ++k) *reinterpret_cast<uint2*>(to + (k + turn) % 4 * 4) = turned[k];
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k)
        *reinterpret_cast<uint4*>(to + k * 8) =
            make_uint4(pairs_[k][0], pairs_[k][1], pairs_[k][2], pairs_[k][3]);
    }
  }

 private:
  static __device__ __forceinline__ uint32_t rounded(float low, float high) {
    typename PairOf<T>::Type pair;
    narrow(make_float2(low, high), pair);
    return reinterpret_cast<const uint32_t&>(pair);
  }

  uint32_t pairs_[4][kChannels / 2];
};

/// Planes to pixels of kChannels elements, by a block's first kThreads. A thread takes four neighbours, 16
/// bytes of a plane, kAtOnce times before it stores any.
template <class T, int kChannels, int kThreads, int kAtOnce>
__device__ __forceinline__ void interleave_planes(const StemPlanes& p, const float4* planes, T* patch) {
  const int fours = p.patch_height * p.patch_width / 4;
  for (int first = static_cast<int>(threadIdx.x); first < fours; first += kAtOnce * kThreads) {
    float4 values[kAtOnce][kChannels];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      const int i = first + j * kThreads;
#pragma unroll
      for (int c = 0; c < kChannels; ++c)
        values[j][c] = c < p.image_channels && i < fours ? planes[c * fours + i] : make_float4(0, 0, 0, 0);
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      const int i = first + j * kThreads;
      if (i < fours) FourPixels<T, kChannels>(values[j]).store(patch + i * 4 * kChannels);
    }
  }
}

}  // namespace hone::device::cuda
