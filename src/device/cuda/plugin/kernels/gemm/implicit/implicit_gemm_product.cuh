// The product of one stage in shared memory: on tensor cores, or by fused multiply-adds in IEEE float.
#pragma once

#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_loader.cuh"

namespace hone::device::cuda {

/// A warp's part of a tile's product on tensor cores: ldmatrix and mma.sync.
template <class T, class TileT>
struct MatrixProduct {
  static constexpr int kM = TileT::kM / TileT::kWarpsM / 16;  ///< fragments of 16 pixels
  static constexpr int kN = TileT::kN / TileT::kWarpsN / 16;  ///< pairs of fragments of 8 filters

  __device__ __forceinline__ MatrixProduct() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    pixel = warp / TileT::kWarpsN * kM * 16;
    filter = warp % TileT::kWarpsN * kN * 16;
    // ldmatrix takes a row's address from each lane: pixels 0-7 and 8-15 with depth 0-7, then both with depth
    // 8-15. Four elements of four bytes count as eight of two, so that each lane then gets one element ...
    const int a_row = pixel + lane % 16;
    a_start = a_row * TileT::kRowBytes + (((lane >> 4) ^ TileT::swizzle(a_row)) << 4);
    // ... and filters 0-7 with depth 0-7 and 8-15, then the same for filters 8-15.
    const int b_row = filter + lane % 8 + (lane >> 4) * 8;
    b_start = TileT::kBytesM + b_row * TileT::kRowBytes + ((((lane >> 3) & 1) ^ TileT::swizzle(b_row)) << 4);
  }

  /// Adds the product of one stage.
  __device__ __forceinline__ void add_stage(uint32_t stage) {
#pragma unroll
    for (int k = 0; k < TileT::kK / 16; ++k) {
      uint32_t a[kM][4];
      uint32_t b[kN][4];
      // Chunk 2k + h of a row lies at (2k + h) ^ swizzle, and 2k shares no bit with h.
#pragma unroll
      for (int i = 0; i < kM; ++i) {
        ptx::load_matrix_x4(a[i], stage + ((a_start + i * 16 * TileT::kRowBytes) ^ (k << 5)));
        if constexpr (__is_same(T, ptx::Tf32)) ptx::round_to_tf32(a[i]);
      }
#pragma unroll
      for (int j = 0; j < kN; ++j) {
        ptx::load_matrix_x4(b[j], stage + ((b_start + j * 16 * TileT::kRowBytes) ^ (k << 5)));
      }
#pragma unroll
      for (int i = 0; i < kM; ++i) {
#pragma unroll
        for (int j = 0; j < kN; ++j) {
          ptx::mma<T>(sums[i][2 * j], a[i], b[j][0], b[j][1]);
          ptx::mma<T>(sums[i][2 * j + 1], a[i], b[j][2], b[j][3]);
        }
      }
    }
  }

  __device__ __forceinline__ void store(float* staged) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    constexpr int kPitch = TileT::kN + kStagePad;
    float* const corner = staged + (pixel + lane / 4) * kPitch + filter + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < kM; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * kN; ++j) {
        float* const to = corner + i * 16 * kPitch + j * 8;
        *reinterpret_cast<float2*>(to) = make_float2(sums[i][j][0], sums[i][j][1]);
        *reinterpret_cast<float2*>(to + 8 * kPitch) = make_float2(sums[i][j][2], sums[i][j][3]);
      }
    }
  }

  float sums[kM][2 * kN][4] = {};
  int pixel;
  int filter;
  int a_start;
  int b_start;
};

/// The product in IEEE float. Every thread has kM x kN sums, whose pixels are 4 apart and whose filters are 8
/// apart, so that the rows that a warp reads at once lie in different banks.
template <class TileT>
struct FloatProduct {
  static constexpr int kStepM = 4;
  static constexpr int kStepN = 8;
  static constexpr int kM = TileT::kM / TileT::kWarpsM / kStepM;
  static constexpr int kN = TileT::kN / TileT::kWarpsN / kStepN;
  // Otherwise a row's swizzle would not be that of the thread's first row XOR a constant.
  static_assert((kM & (kM - 1)) == 0 && (kN & (kN - 1)) == 0);

  __device__ __forceinline__ FloatProduct() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    pixel = warp / TileT::kWarpsN * kM * kStepM + lane / kStepN;
    filter = warp % TileT::kWarpsN * kN * kStepN + lane % kStepN;
    a_start = pixel * TileT::kRowBytes + (TileT::swizzle(pixel) << 4);
    b_start = TileT::kBytesM + filter * TileT::kRowBytes + (TileT::swizzle(filter) << 4);
  }

  __device__ __forceinline__ void add_stage(uint32_t stage) {
    constexpr int kFlip = (TileT::kK == 32 ? kStepM / 2 : kStepM) << 4;  // for every other row of pixels
#pragma unroll 2
    for (int c = 0; c < TileT::kChunks; ++c) {
      const uint32_t even = stage + (a_start ^ (c << 4));
      const uint32_t odd = stage + (a_start ^ (c << 4) ^ kFlip);
      const uint32_t filters = stage + (b_start ^ (c << 4));
      float4 b[kN];
#pragma unroll
      for (int j = 0; j < kN; ++j) b[j] = ptx::load_shared(filters + j * kStepN * TileT::kRowBytes);
#pragma unroll
      for (int i = 0; i < kM; ++i) {
        const float4 a = ptx::load_shared((i % 2 == 0 ? even : odd) + i * kStepM * TileT::kRowBytes);
#pragma unroll
        for (int j = 0; j < kN; ++j) {
          sums[i][j] = fmaf(a.x, b[j].x, sums[i][j]);
          sums[i][j] = fmaf(a.y, b[j].y, sums[i][j]);
          sums[i][j] = fmaf(a.z, b[j].z, sums[i][j]);
          sums[i][j] = fmaf(a.w, b[j].w, sums[i][j]);
        }
      }
    }
  }

  __device__ __forceinline__ void store(float* staged) const {
    constexpr int kPitch = TileT::kN + kStagePad;
#pragma unroll
    for (int i = 0; i < kM; ++i) {
#pragma unroll
      for (int j = 0; j < kN; ++j) staged[(pixel + i * kStepM) * kPitch + filter + j * kStepN] = sums[i][j];
    }
  }

  float sums[kM][kN] = {};
  int pixel;
  int filter;
  int a_start;
  int b_start;
};

template <class T, class TileT>
struct ProductOf {
  using Type = MatrixProduct<T, TileT>;
};
template <class TileT>
struct ProductOf<float, TileT> {
  using Type = FloatProduct<TileT>;
};

}  // namespace hone::device::cuda
