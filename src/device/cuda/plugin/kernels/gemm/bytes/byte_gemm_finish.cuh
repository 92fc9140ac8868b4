// Turns a warpgroup's int32 sums into y. Bytes go through shared memory to the copy unit, floats straight to
// global memory. A thread has runs of four adjacent channels, one run in every 16 (byte_filter_place()).
#pragma once

#include <type_traits>

#include "device/cuda/plugin/kernels/common/byte_descriptor.cuh"
#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/quick_gelu.cuh"
#include "device/cuda/plugin/kernels/common/wgmma_bytes.cuh"
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_params.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_stages.cuh"

namespace hone::device::cuda {

/// The tile TileT with the parameter of a product of bytes and stages whose rows have kRowBytes bytes.
template <class TileT, int kRowBytes_ = kStageRowBytes>
struct ByteTile : TileT {
  using Params = ByteParams;
  static constexpr int kRowBytes = kRowBytes_;
  static constexpr int kBytesM = TileT::kM * kRowBytes;
  static constexpr int kStageBytes = kBytesM + TileT::kN * kRowBytes;
};

/// The tile of a sum of two products.
template <class TileT>
struct ByteSumTile : ByteTile<TileT> {
  using Params = ByteSumParams;
  static constexpr bool kSums = true;
};

/// A finished tile of bytes, or the operand of an addition: slabs of up to 128 channels with kM rows each,
/// swizzled for the length of a row.
template <class TileT>
struct ByteSlabs {
  static constexpr int kChannels = byte_slab_channels(TileT::kN);
  static constexpr int kSlabs = TileT::kN / kChannels;
  static constexpr int kBoxBytes = 64 * kChannels;  ///< of 64 rows, which are one fragment
  static constexpr int kSlabBytes = TileT::kM * kChannels;
  static constexpr int kBytes = kSlabs * kSlabBytes;
  static_assert(kChannels == 32 || kChannels == 64 || kChannels == 128);

  /// The indices of 16-byte pieces in a row are XORed with this number.
  static __device__ __forceinline__ int swizzle(int row) {
    return kChannels == 128 ? row & 7 : kChannels == 64 ? row >> 1 & 3 : row >> 2 & 1;
  }
};

/// A warpgroup's sums: kFragments fragments of 64 rows of the tile.
template <class TileT>
struct ByteProduct {
  /// Sets the sums to the product of the next `count` stages.
  template <bool kUnsigned>
  __device__ __forceinline__ void run(const StageRing& ring, RingPlace& place, int count) {
#pragma unroll
    for (auto& fragment : sums) {
#pragma unroll
      for (int32_t& sum : fragment) sum = 0;
    }
    const int group = ptx::warpgroup();
    const bool speaks = threadIdx.x % 32 == 0;
    int before = 0;
#pragma unroll 1
    for (int s = 0; s < count; ++s) {
      ptx::wait_barrier(ring.full(place.stage), place.parity);
      const uint32_t memory = ring.memory + place.stage * TileT::kStageBytes;
      constexpr int kRowBytes = TileT::kRowBytes;
      const uint64_t left =
          ptx::byte_descriptor<kRowBytes>(memory + group * TileT::kFragments * 64 * kRowBytes);
      const uint64_t right = ptx::byte_descriptor<kRowBytes>(memory + TileT::kBytesM);
      ptx::fence_sums();
#pragma unroll
      for (int k = 0; k < kRowBytes / 32; ++k) {
#pragma unroll
        for (int i = 0; i < TileT::kFragments; ++i) {
          // Advances by 32 bytes of the depth per k and by 64 rows per i.
          ptx::multiply_bytes<kUnsigned, TileT::kN>(sums[i], left + k * 2 + i * (64 * kRowBytes >> 4),
                                                    right + k * 2);
        }
      }
      ptx::commit_products();
      ptx::wait_products<1>();  // the previous stage is no longer read
      if (s > 0 && speaks) ptx::arrive(ring.empty(before));
      before = place.stage;
      place.next(ring.stages);
    }
    ptx::wait_products<0>();
    if (speaks) ptx::arrive(ring.empty(before));
  }

  /// The first row of the tile in this thread's sums of fragment 0; the thread's second row is 8 below.
  static __device__ __forceinline__ int first_row() {
    const int thread = static_cast<int>(threadIdx.x);
    return thread / 128 * TileT::kFragments * 64 + thread % 128 / 32 * 16 + thread % 32 / 4;
  }

  /// The sums of one row of fragment `i` (first_row() + 8 * half) in run `run` of 16 channels.
  __device__ __forceinline__ int4 four(int i, int run, int half) const {
    const int32_t* const from = sums[i] + 8 * run + 2 * half;
    return make_int4(from[0], from[1], from[4], from[5]);
  }

  int32_t sums[TileT::kFragments][TileT::kN / 2];
};

/// Choices that hold for a whole tile; testing one for every number would cost an instruction each time.
template <ByteFunction kFunction_, bool kClamps_, bool kRoundsFirst_>
struct FinishKind {
  static constexpr ByteFunction kFunction = kFunction_;
  static constexpr bool kClamps = kClamps_;
  static constexpr bool kRoundsFirst = kRoundsFirst_;
  static constexpr bool kAdds = kFunction == ByteFunction::kAdd;
};

/// Calls `finish.template operator()<Kind>()` with the kind for these steps.
template <ByteFunction kFunction, class Finish>
__device__ __forceinline__ void with_finish_kind(const ByteFinish& p, const Finish& finish) {
  if constexpr (kFunction == ByteFunction::kAdd) {
    if (p.rounds_first) return finish.template operator()<FinishKind<kFunction, true, true>>();
  }
  if (p.clamps) return finish.template operator()<FinishKind<kFunction, true, false>>();
  finish.template operator()<FinishKind<kFunction, false, false>>();
}

/// The operations after a sum, in registers. `late` is added last.
template <class Kind>
struct ByteFinisher {
  const ByteFinish& p;
  float offset;
  float late;

  /// The initial value of a channel's sums: everything that can be added before a function or a rounding.
  __device__ __forceinline__ float start(float bias) const {
    if (Kind::kFunction == ByteFunction::kBounds) return bias + late;
    return Kind::kAdds && !Kind::kRoundsFirst ? bias + (offset + late) : bias;
  }
  __device__ __forceinline__ float run(int sum, float scale, float begin, float operand) const {
    float v = fmaf(static_cast<float>(sum), scale, begin);
    if (Kind::kRoundsFirst) {
      v = fminf(fmaxf(rintf(v), p.first_low), p.first_high);
      v = fmaf(v, p.first_factor, offset + late);
    }
    if (Kind::kAdds) v = fmaf(operand, p.operand_factor, v);
    if (Kind::kFunction == ByteFunction::kSwish) v = fmaf(v * quick_sigmoid(p.alpha * v), p.factor, late);
    if (Kind::kFunction == ByteFunction::kGelu) v = fmaf(quick_gelu_erf(v), p.factor, late);
    // If kClamps is false, the saturation to bytes does the same.
    return Kind::kClamps ? fminf(fmaxf(v, p.low + late), p.high + late) : v;
  }
  __device__ __forceinline__ float4 run(const int4& sums, const float4& scale, const float4& begin,
                                        const float4& operand) const {
    return make_float4(run(sums.x, scale.x, begin.x, operand.x), run(sums.y, scale.y, begin.y, operand.y),
                       run(sums.z, scale.z, begin.z, operand.z), run(sums.w, scale.w, begin.w, operand.w));
  }
};

/// The parameters of a run of four channels.
struct RunScales {
  float4 scale;
  float4 begin;

  template <class Kind>
  __device__ __forceinline__ void load(const ByteEnding& p, const ByteFinisher<Kind>& finisher, int channel) {
    scale = __ldg(reinterpret_cast<const float4*>(p.scales + channel));
    begin = __ldg(reinterpret_cast<const float4*>(p.bias + channel));
    begin = make_float4(finisher.start(begin.x), finisher.start(begin.y), finisher.start(begin.z),
                        finisher.start(begin.w));
  }
};

/// Converts four unsigned bytes to floats.
__device__ __forceinline__ float4 widen_bytes(uint32_t bytes) {
  return make_float4(static_cast<float>(bytes & 0xff), static_cast<float>(bytes >> 8 & 0xff),
                     static_cast<float>(bytes >> 16 & 0xff), static_cast<float>(bytes >> 24));
}

/// Rounds to the nearest integer, ties to even, and saturates to an unsigned
/// byte; `flip` turns that into the signed byte that is 128 less. Only clamped
/// numbers get a zero point; adding it takes none of them out of range.
template <class Kind>
__device__ __forceinline__ uint32_t narrow_bytes(const ByteEnding& p, const float4& v) {
  const auto integer = [&](float value) {
    return Kind::kClamps ? __float2int_rn(value) + p.finish.zero_point : __float2int_rn(value);
  };
  return ptx::pack_unsigned_bytes(integer(v.x), integer(v.y), integer(v.z), integer(v.w)) ^ p.flip;
}

/// Writes a warpgroup's sums as bytes to shared memory, after adding the bytes that lie there. A warp's 16
/// rows and 32 channels form four matrices in the sense of ldmatrix and stmatrix.
template <class Kind, class TileT>
__device__ __forceinline__ void finish_bytes(const ByteEnding& p, int filters, uint32_t output, int tile_n,
                                             const ByteProduct<TileT>& product) {
  using Slabs = ByteSlabs<TileT>;
  // Converts signed bytes to unsigned ones; the offset is even, so that ties still round the same way.
  const ByteFinisher<Kind> finisher{p.finish, p.operand_offset, p.flip != 0 ? 128.0f : 0.0f};
  const bool reads = Kind::kAdds && p.has_operand;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = product.first_row() - lane / 4 + lane % 16;
  const uint32_t corner = output + row * Slabs::kChannels + ((lane / 16) ^ Slabs::swizzle(row)) * 16;
  const int channel = tile_n * TileT::kN + lane % 4 * 4;
#pragma unroll
  for (int j = 0; j < TileT::kN / 16; j += 2) {
    if (tile_n * TileT::kN + j * 16 >= filters) break;
    RunScales runs[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) runs[k].load(p, finisher, channel + (j + k) * 16);
    constexpr int kPieces = Slabs::kChannels / 16;
#pragma unroll
    for (int i = 0; i < TileT::kFragments; ++i) {
      const uint32_t address =
          (corner ^ (j % kPieces * 16)) + j / kPieces * Slabs::kSlabBytes + i * Slabs::kBoxBytes;
      uint32_t words[4] = {};
      if (reads) {
        ptx::load_matrix_x4(words, address);
        __syncwarp();
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        float4 operand = make_float4(0, 0, 0, 0);
        if (Kind::kAdds) operand = widen_bytes(words[k] ^ p.operand_flip);
        const RunScales& run = runs[k / 2];
        words[k] = narrow_bytes<Kind>(
            p, finisher.run(product.four(i, j + k / 2, k % 2), run.scale, run.begin, operand));
      }
      ptx::store_matrix_x4(address, words);
    }
  }
}

template <class T>
__device__ __forceinline__ void store_four(T* to, const float4& v, int count, bool whole) {
  const float values[4] = {v.x, v.y, v.z, v.w};
  if (whole) return store_floats<4>(to, values);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < count) to[i] = from_float<T>(values[i]);
  }
}

/// Writes a warpgroup's sums to y as floats of type T.
template <class Kind, class T, class TileT>
__device__ __forceinline__ void finish_floats(const ByteParams& p, int tile_m, int tile_n,
                                              const ByteProduct<TileT>& product) {
  const ByteEnding& ending = p.ending;
  const ByteFinisher<Kind> finisher{ending.finish, ending.operand_offset, 0};
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first = tile_m * TileT::kM + product.first_row();
  const int filters = p.epilogue.filters;
  const bool whole = filters % 4 == 0;
#pragma unroll
  for (int j = 0; j < TileT::kN / 16; ++j) {
    const int channel = tile_n * TileT::kN + j * 16 + lane % 4 * 4;
    const int count = filters - channel;
    if (count <= 0) break;
    RunScales run;
    run.load(ending, finisher, channel);
#pragma unroll
    for (int i = 0; i < TileT::kFragments; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = first + i * 64 + half * 8;
        if (row >= p.epilogue.rows) continue;
        const size_t at = static_cast<size_t>(row) * filters + channel;
        float operand[4] = {};
        if (Kind::kAdds && ending.has_operand) {
          const T* const from = static_cast<const T*>(p.floats) + at;
          if (whole) {
            load_floats<4>(from, operand);
          } else {
#pragma unroll
            for (int k = 0; k < 4; ++k) {
              if (k < count) operand[k] = to_float(from[k]);
            }
          }
        }
        const float4 v = finisher.run(product.four(i, j, half), run.scale, run.begin,
                                      make_float4(operand[0], operand[1], operand[2], operand[3]));
        store_four(static_cast<T*>(p.epilogue.y) + at, v, count, whole);
      }
    }
  }
}

}  // namespace hone::device::cuda
