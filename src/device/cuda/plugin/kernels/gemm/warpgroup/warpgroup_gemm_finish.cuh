// Writes a warpgroup's sums to the shared memory from which the copy unit stores y.
#pragma once

#include "device/cuda/plugin/kernels/common/quick_gelu.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_stages.cuh"

namespace hone::device::cuda {

/// The layout of a finished tile, and of the operand of an addition, for the copy unit: slabs of up to 64
/// channels with kM rows each, swizzled for the length of a row.
template <class TileT>
struct OutputSlabs {
  static constexpr int kChannels = TileT::kN < 64 ? TileT::kN : 64;
  static constexpr int kRowBytes = kChannels * 2;
  static constexpr int kSlabs = TileT::kN / kChannels;
  static constexpr int kBoxBytes = 64 * kRowBytes;  ///< of 64 rows, which are one fragment
  static constexpr int kSlabBytes = TileT::kM * kRowBytes;
  static constexpr int kBytes = kSlabs * kSlabBytes;
  static_assert(kChannels == 64 || kChannels == 32);

  /// The indices of 16-byte pieces in a row are XORed with this number.
  static __device__ __forceinline__ int swizzle(int row) { return kChannels == 64 ? row & 7 : row >> 1 & 3; }
};

/// Initialises the sums with the bias; its loads overlap with the copies of the first stage.
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

/// The operations after the sums, on pairs of adjacent channels. The bounds apply to rounded numbers, since
/// rounding keeps their order. NaN stays NaN.
template <class T, StreamKind kKind>
class PairFinish {
 public:
  using Pair = typename PairOf<T>::Type;

  __device__ __forceinline__ explicit PairFinish(const StreamEpilogue& epilogue) : alpha_(epilogue.alpha) {
    narrow(make_float2(epilogue.low, epilogue.low), low_);
    narrow(make_float2(epilogue.high, epilogue.high), high_);
  }

  /// `packed` holds the operand of an addition on entry, and the result on return.
  __device__ __forceinline__ void run(float2 pair, uint32_t& packed) const {
    Pair& result = reinterpret_cast<Pair&>(packed);
    if (kKind == StreamKind::kAdd) {
      const float2 operand = widen(result);
      pair = make_float2(pair.x + operand.x, pair.y + operand.y);
    }
    if (kKind == StreamKind::kSwish) {
      const float2 factor = quick_sigmoid(make_float2(alpha_ * pair.x, alpha_ * pair.y));
      pair = make_float2(pair.x * factor.x, pair.y * factor.y);
    }
    if (kKind == StreamKind::kHardSwish)
      pair = make_float2(pair.x * __saturatef(fmaf(pair.x, 1.0f / 6, 0.5f)),
                         pair.y * __saturatef(fmaf(pair.y, 1.0f / 6, 0.5f)));
    if (kKind == StreamKind::kLeaky)
      pair = make_float2(pair.x < 0 ? alpha_ * pair.x : pair.x, pair.y < 0 ? alpha_ * pair.y : pair.y);
    if (kKind == StreamKind::kGelu) pair = make_float2(quick_gelu_erf(pair.x), quick_gelu_erf(pair.y));
    if (kKind == StreamKind::kGeluTanh) pair = make_float2(quick_gelu_tanh(pair.x), quick_gelu_tanh(pair.y));
    narrow(pair, result);
    if (kHasBounds) result = __hmin2_nan(__hmax2_nan(result, low_), high_);
  }

 private:
  static constexpr bool kHasBounds = has_bounds(kKind);

  float alpha_;
  Pair low_;
  Pair high_;
};

/// Writes a warpgroup's sums to the output in shared memory, after adding the operand that lies there. It
/// covers the first `filters_left` filters, rounded up to 16; the copy unit stores none after the last
/// filter. A warp's 16 rows and 16 channels form four matrices in the sense of ldmatrix and stmatrix.
template <StreamKind kKind, class T, class TileT>
__device__ __forceinline__ void finish_sums(const StreamEpilogue& epilogue, uint32_t output, int filters_left,
                                            const WarpgroupProduct<T, TileT>& product) {
  using Slabs = OutputSlabs<TileT>;
  constexpr int kPieces = Slabs::kChannels / 8;
  const PairFinish<T, kKind> finish(epilogue);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = product.first_row() - lane / 4 + lane % 16;
  const uint32_t corner = output + row * Slabs::kRowBytes + ((lane / 16) ^ Slabs::swizzle(row)) * 16;
#pragma unroll
  for (int i = 0; i < TileT::kFragments; ++i) {
#pragma unroll
    for (int j = 0; j < TileT::kN / 8; j += 2) {
      if (j * 8 >= filters_left) break;
      const int slab = j / kPieces;
      const uint32_t address =
          (corner ^ (j % kPieces * 16)) + slab * Slabs::kSlabBytes + i * Slabs::kBoxBytes;
      uint32_t pairs[4];
      if (kKind == StreamKind::kAdd) {
        ptx::load_matrix_x4(pairs, address);
        __syncwarp();
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const float* const sums = product.sums[i] + 4 * j + 2 * k;
        finish.run(make_float2(sums[0], sums[1]), pairs[k]);
      }
      ptx::store_matrix_x4(address, pairs);
    }
  }
}

}  // namespace hone::device::cuda
