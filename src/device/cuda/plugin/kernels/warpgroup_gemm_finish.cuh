// From a warpgroup's sums to the place in shared memory that the copy unit stores y from.
#pragma once

#include "device/cuda/plugin/kernels/warpgroup_gemm_stages.cuh"

namespace hone::device::cuda {

/// A finished tile as the copy unit stores it, and as the operand of an addition comes: slabs of up to 64
/// channels, kM rows each, swizzled by the length of a row.
template <class TileT>
struct OutputSlabs {
  static constexpr int kChannels = TileT::kN < 64 ? TileT::kN : 64;
  static constexpr int kRowBytes = kChannels * 2;
  static constexpr int kSlabs = TileT::kN / kChannels;
  static constexpr int kBoxBytes = 64 * kRowBytes;  ///< of 64 rows, one fragment
  static constexpr int kSlabBytes = TileT::kM * kRowBytes;
  static constexpr int kBytes = kSlabs * kSlabBytes;
  static_assert(kChannels == 64 || kChannels == 32);

  /// What a row's numbers of 16 bytes are XORed with.
  static __device__ __forceinline__ int swizzle(int row) { return kChannels == 64 ? row & 7 : row >> 1 & 3; }
};

/// Sums begin with the bias, whose loads so pass while the first stage comes.
template <class T, class TileT>
__device__ __forceinline__ void begin_sums(const EpilogueParams& p, int tile_n,
                                           WarpgroupProduct<T, TileT>& product) {
  const int channel = tile_n * TileT::kN + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int j = 0; j < TileT::kN / 8; ++j) {
    const bool valid = p.bias != nullptr && channel + j * 8 < p.filters;
    const float2 bias =
        valid ? __ldg(reinterpret_cast<const float2*>(p.bias + channel + j * 8)) : make_float2(0, 0);
#pragma unroll
    for (int i = 0; i < TileT::kFragments; ++i) {
      product.sums[i][4 * j] = product.sums[i][4 * j + 2] = bias.x;
      product.sums[i][4 * j + 1] = product.sums[i][4 * j + 3] = bias.y;
    }
  }
}

/// A thread's pair of sums to its place in the output, behind the addition of what lies there. NaN stays NaN.
template <class T, StreamKind kKind>
__device__ __forceinline__ void finish_pair(const StreamEpilogue& epilogue, float2 pair, uint32_t address) {
  typename PairOf<T>::Type packed;
  if (kKind == StreamKind::kAdd) {
    ptx::load_pair(address, packed);
    const float2 operand = widen(packed);
    pair = make_float2(pair.x + operand.x, pair.y + operand.y);
  }
  if (kKind == StreamKind::kSwish) {
    pair = make_float2(pair.x * sigmoid(epilogue.alpha * pair.x), pair.y * sigmoid(epilogue.alpha * pair.y));
  } else {
    pair =
        make_float2(clamp(pair.x, epilogue.low, epilogue.high), clamp(pair.y, epilogue.low, epilogue.high));
  }
  narrow(pair, packed);
  ptx::store_pair(address, packed);
}

template <StreamKind kKind, class T, class TileT>
__device__ __forceinline__ void finish_sums(const StreamEpilogue& epilogue, uint32_t output,
                                            const WarpgroupProduct<T, TileT>& product) {
  using Slabs = OutputSlabs<TileT>;
  const int row = product.first_row();
  const int swizzle = Slabs::swizzle(row);  // the same 8 rows below
  const uint32_t corner = output + row * Slabs::kRowBytes + threadIdx.x % 4 * 4;
#pragma unroll
  for (int i = 0; i < TileT::kFragments; ++i) {
#pragma unroll
    for (int j = 0; j < TileT::kN / 8; ++j) {
      const int slab = j * 8 / Slabs::kChannels;
      const int piece = (j % (Slabs::kChannels / 8)) ^ swizzle;
      const uint32_t address = corner + slab * Slabs::kSlabBytes + i * Slabs::kBoxBytes + piece * 16;
      const float* const sums = product.sums[i] + 4 * j;
      finish_pair<T, kKind>(epilogue, make_float2(sums[0], sums[1]), address);
      finish_pair<T, kKind>(epilogue, make_float2(sums[2], sums[3]), address + 8 * Slabs::kRowBytes);
    }
  }
}

}  // namespace hone::device::cuda
