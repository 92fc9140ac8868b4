// The common part of the attention kernels: the position of a head, the softmax of a thread's scores, and the
// result. Internal to the kernels.
#pragma once

#include <algorithm>
#include <cfloat>
#include <iterator>

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/layers/attention.hpp"

namespace hone::device::cuda::attention_parts {

inline constexpr int kWarpRows = 16;
inline constexpr int kTileKeys = 64;
/// Elements in 16 bytes.
inline constexpr int kRun = 8;
inline constexpr float kLog2E = 1.4426950408889634f;

struct Params {
  AttentionArgs args;
  AttentionSize size;
  int row_tiles = 1;
  /// True if every run of an operand is 16-byte aligned.
  bool aligned = false;
  bool next_waits = false;
  /// Divisors by the lengths of the loops over heads; there are fewer than 2^31 heads.
  Divisor<uint32_t> lengths[AttentionMatrix::kMostLoops];
};

inline Params make_params(const AttentionArgs& args, const AttentionSize& size, int row_tiles, bool aligned,
                          bool next_waits) {
  Params params{args, size, row_tiles, aligned, next_waits, {}};
  for (int i = 0; i < size.loops; ++i) params.lengths[i] = Divisor<uint32_t>(size.lengths[i]);
  return params;
}

template <class T>
__device__ __forceinline__ uint32_t pair(float a, float b) {
  const T values[2] = {from_float<T>(a), from_float<T>(b)};
  uint32_t bits;
  memcpy(&bits, values, sizeof bits);
  return bits;
}

/// The block's head, as indices of the loops over heads.
struct Head {
  int64_t index[AttentionMatrix::kMostLoops];

  __device__ __forceinline__ Head(const Params& params, uint32_t head) {
#pragma unroll
    for (int i = AttentionMatrix::kMostLoops - 1; i >= 0; --i)
      index[i] = i < params.size.loops ? take_coordinate(head, params.lengths[i]) : 0;
  }
  __device__ __forceinline__ int64_t offset(const AttentionMatrix& matrix) const {
    int64_t offset = matrix.offset;
#pragma unroll
    for (int i = 0; i < AttentionMatrix::kMostLoops; ++i) offset += index[i] * matrix.loops[i];
    return offset;
  }
};

/// A thread's part of a warp's 16 rows: two rows, and two adjacent columns of every eight.
template <int kBlocks>
using Sums = float[kBlocks][4];

/// The sums as a flat array, as warpgroup instructions take them.
template <int kBlocks>
__device__ __forceinline__ float (&flat(Sums<kBlocks>& sums))[kBlocks * 4] {
  return *reinterpret_cast<float(*)[kBlocks * 4]>(&sums);
}

/// Keeps the compiler from moving reads of the sums to
/// before this point, and so before the wait for products.
template <int kBlocks>
__device__ __forceinline__ void hold(Sums<kBlocks>& sums) {
#pragma unroll
  for (auto& block : sums) {
#pragma unroll
    for (float& sum : block) ptx::hold(sum);
  }
}

/// The largest score so far, and the sum of exponentials relative to it, for a thread's two rows.
struct Normalizers {
  float largest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0.0f, 0.0f};
};

/// The largest value of four adjacent lanes, which share a row.
__device__ __forceinline__ float largest_of_row(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
  return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}

__device__ __forceinline__ float sum_of_row(float value) {
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  return value + __shfl_xor_sync(0xffffffffu, value, 2);
}

/// Offsets, in elements of each mask, at which the masks of a thread's two rows begin.
struct MaskRows {
  int64_t rows[AttentionSize::kMostMasks][2];
};

/// The masks of row `row` and of the row 8 below, both limited to the last row.
__device__ __forceinline__ MaskRows mask_rows(const AttentionSize& size, const Head& head, int64_t row) {
  MaskRows masks;
#pragma unroll
  for (int m = 0; m < AttentionSize::kMostMasks; ++m) {
    if (m >= size.masks) break;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      masks.rows[m][i] = head.offset(size.mask[m]) + min(row + i * 8, size.rows - 1) * size.mask[m].row;
  }
  return masks;
}

/// Multiplies by log2(e), because scores are logarithms of base 2. Finite masks stay finite, so that a row in
/// which all masks are the lowest float has equal scores.
__device__ __forceinline__ float in_base_2(float mask) {
  const float scaled = mask * kLog2E;
  const bool finite = mask > -INFINITY && mask < INFINITY;
  return finite ? fminf(fmaxf(scaled, -FLT_MAX), FLT_MAX) : scaled;
}

/// The masks of a thread's scores. `added` is added to the scores, but replaces those whose bit in `filled`
/// is set. There are four bits for each block.
template <int kBlocks>
struct MaskTile {
  Sums<kBlocks> added = {};
  uint32_t filled = 0;
};

/// Replaces the scores that a mask selects by its fill value; `rows` are the offsets of the mask's rows.
template <int kBlocks>
__device__ __forceinline__ void fill_where(MaskTile<kBlocks>& tile, const unsigned char* mask,
                                           const int64_t (&rows)[2], int64_t column,
                                           const AttentionFill& fill, int keys_left) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const float filled = in_base_2(fill.value);
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int key = block * 8 + lane % 4 * 2 + i % 2;
      const bool said = key < keys_left && (mask[rows[i / 2] + key * column] != 0) == fill.where;
      tile.added[block][i] = said ? filled : tile.added[block][i];
      tile.filled |= said ? 1u << (block * 4 + i) : 0u;
    }
  }
}

template <int kBlocks>
__device__ __forceinline__ void load_masks(MaskTile<kBlocks>& tile, const Params& params,
                                           const MaskRows& masks, int64_t first_key, int keys_left) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int m = 0; m < AttentionSize::kMostMasks; ++m) {
    if (m >= params.size.masks) break;
    const int64_t column = params.size.mask[m].column;
    const int64_t rows[2] = {masks.rows[m][0] + first_key * column, masks.rows[m][1] + first_key * column};
    const AttentionFill fill = params.size.fill[m];
    if (fill.fills) {
      fill_where(tile, static_cast<const unsigned char*>(params.args.masks[m]), rows, column, fill,
                 keys_left);
      continue;
    }
    const auto* const added = static_cast<const float*>(params.args.masks[m]);
    if (column == 1) {
      // The usual layout of a mask: addresses differ by constants.
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        const float* const from = added + rows[row] + lane % 4 * 2;
#pragma unroll
        for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            const bool is_there = block * 8 + lane % 4 * 2 + i < keys_left;
            tile.added[block][2 * row + i] += in_base_2(is_there ? from[block * 8 + i] : 0.0f);
          }
        }
      }
      continue;
    }
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        // No branch, so that all loads are issued before the first use.
        const int key = block * 8 + lane % 4 * 2 + i % 2;
        tile.added[block][i] += in_base_2(key < keys_left ? added[rows[i / 2] + key * column] : 0.0f);
      }
    }
  }
}

/// Replaces scores by exponentials relative to the largest score so far, and rescales the sums so far to
/// match. Scores times `scale`, which is positive, are logarithms of base 2.
template <int kBlocks, int kColumns>
__device__ __forceinline__ void normalize(Sums<kBlocks>& scores, float scale, Normalizers& state,
                                          Sums<kColumns>& sums) {
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    float largest = -INFINITY;
#pragma unroll
    for (int block = 0; block < kBlocks; ++block)
      largest = fmaxf(largest, fmaxf(scores[block][2 * row], scores[block][2 * row + 1]));
    largest = fmaxf(state.largest[row], largest_of_row(largest) * scale);
    // In a row without any score yet, the exponentials are zero.
    const float shift = largest == -INFINITY ? 0.0f : largest;
    const float factor = ptx::power_of_two(state.largest[row] - shift);
    state.largest[row] = largest;
    float sum = 0.0f;
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
      for (int i = 2 * row; i < 2 * row + 2; ++i) {
        scores[block][i] = ptx::power_of_two(fmaf(scores[block][i], scale, -shift));
        sum += scores[block][i];
      }
    }
    state.sum[row] = fmaf(state.sum[row], factor, sum);
    if (factor == 1.0f) continue;  // true in most iterations of a long loop
#pragma unroll
    for (int block = 0; block < kColumns; ++block) {
      sums[block][2 * row] *= factor;
      sums[block][2 * row + 1] *= factor;
    }
  }
}

/// Hides keys past the end.
template <int kBlocks>
__device__ __forceinline__ void hide_keys(Sums<kBlocks>& scores, int keys_left) {
  if (keys_left >= kBlocks * 8) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (block * 8 + lane % 4 * 2 + i % 2 >= keys_left) scores[block][i] = -INFINITY;
    }
  }
}

/// Applies the masks and converts scores to logarithms of base 2.
template <int kBlocks>
__device__ __forceinline__ void mask_scores(Sums<kBlocks>& scores, float scale,
                                            const MaskTile<kBlocks>& masks) {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float added = masks.added[block][i];
      const bool filled = (masks.filled >> (block * 4 + i) & 1) != 0;
      scores[block][i] = filled ? added : fmaf(scores[block][i], scale, added);
    }
  }
}

/// The softmax of the scores of one tile of keys. Scaling is delayed only if the scale is positive; then the
/// order of the scores stays the same, and hidden keys stay hidden.
template <bool kMasked, int kBlocks, int kColumns>
__device__ __forceinline__ void weigh(Sums<kBlocks>& scores, float scale, const MaskTile<kBlocks>& added,
                                      int keys_left, Normalizers& state, Sums<kColumns>& sums) {
  if (kMasked || !(scale > 0.0f)) {
    mask_scores(scores, scale, added);
    scale = 1.0f;
  }
  hide_keys(scores, keys_left);
  normalize(scores, scale, state, sums);
}

/// Divides by the sums of exponentials and writes a thread's part of the result.
template <int kDepth, class T>
__device__ __forceinline__ void store_result(const Params& params, T* y, int64_t first_row,
                                             const Sums<kDepth / 8>& sums, const Normalizers& state) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const float sum = sum_of_row(state.sum[row]);
    const float factor = 1.0f / sum;
    const bool zero = params.size.guarded && !(sum > 0.0f);
    const int64_t at = first_row + lane / 4 + row * 8;
    if (at >= params.size.rows) continue;
    T* const to = y + at * params.size.y.row;
#pragma unroll
    for (int block = 0; block < kDepth / 8; ++block) {
      const int column = block * 8 + lane % 4 * 2;
      const float values[2] = {zero ? 0.0f : sums[block][2 * row] * factor,
                               zero ? 0.0f : sums[block][2 * row + 1] * factor};
      if (params.aligned && column < params.size.width) {
        store_floats<2>(to + column, values);
      } else {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          if (column + i < params.size.width) to[column + i] = from_float<T>(values[i]);
        }
      }
    }
  }
}

/// Joins the results of the kSplit warps that share 16 rows, each for its own keys, and writes the block's
/// part of the result, kRowGroups times 16 rows. This warp has part `part` of group `group`.
template <int kDepth, int kSplit, int kRowGroups, class T>
__device__ __forceinline__ void store_joined(const Params& params, T* y, int64_t first_row,
                                             const Sums<kDepth / 8>& sums, const Normalizers& state,
                                             int group, int part, float* memory) {
  constexpr int kRows = kRowGroups * kWarpRows;
  constexpr int kPitch = kDepth + 4;
  const int warp = group * kSplit + part;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float2* const found = reinterpret_cast<float2*>(memory + kRowGroups * kSplit * kWarpRows * kPitch);
  __syncthreads();  // the tiles are no longer read
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const float sum = sum_of_row(state.sum[row]);
    if (lane % 4 == 0) found[warp * kWarpRows + lane / 4 + row * 8] = make_float2(state.largest[row], sum);
  }
  __syncthreads();
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const int at = lane / 4 + row * 8;
    const float2* const others = found + group * kSplit * kWarpRows + at;
    float largest = -INFINITY;
#pragma unroll
    for (int other = 0; other < kSplit; ++other) largest = fmaxf(largest, others[other * kWarpRows].x);
    const float shift = largest == -INFINITY ? 0.0f : largest;
    float sum = 0.0f;
#pragma unroll
    for (int other = 0; other < kSplit; ++other)
      sum += others[other * kWarpRows].y * ptx::power_of_two(others[other * kWarpRows].x - shift);
    const float factor = ptx::power_of_two(state.largest[row] - shift) / sum;
    const bool zero = params.size.guarded && !(sum > 0.0f);
    float* const to = memory + (warp * kWarpRows + at) * kPitch + lane % 4 * 2;
#pragma unroll
    for (int block = 0; block < kDepth / 8; ++block) {
      *reinterpret_cast<float2*>(to + block * 8) =
          zero ? make_float2(0, 0)
               : make_float2(sums[block][2 * row] * factor, sums[block][2 * row + 1] * factor);
    }
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kRows * (kDepth / kRun);
       i += static_cast<int>(blockDim.x)) {
    const int row = i / (kDepth / kRun);
    const int column = i % (kDepth / kRun) * kRun;
    if (first_row + row >= params.size.rows || column >= params.size.width) continue;
    float values[kRun] = {};
#pragma unroll
    for (int other = 0; other < kSplit; ++other) {
      const int of_warp = row / kWarpRows * kSplit + other;
      const float* const from = memory + (of_warp * kWarpRows + row % kWarpRows) * kPitch + column;
#pragma unroll
      for (int k = 0; k < kRun; ++k) values[k] += from[k];
    }
    T* const to = y + (first_row + row) * params.size.y.row + column;
    if (params.aligned) {
      store_floats<kRun>(to, values);
    } else {
#pragma unroll
      for (int k = 0; k < kRun; ++k) {
        if (column + k < params.size.width) to[k] = from_float<T>(values[k]);
      }
    }
  }
}

/// True if every run of the operands is 16-byte aligned.
inline bool are_aligned(const AttentionArgs& args, const AttentionSize& size) {
  const auto aligned = [](const void* pointer, const AttentionMatrix& matrix) {
    const auto in_runs = [](int64_t elements) { return elements % kRun == 0; };
    return reinterpret_cast<uintptr_t>(pointer) % 16 == 0 && in_runs(matrix.offset) && in_runs(matrix.row) &&
           std::all_of(std::begin(matrix.loops), std::end(matrix.loops), in_runs);
  };
  return size.depth % kRun == 0 && size.width % kRun == 0 && aligned(args.q, size.q) &&
         aligned(args.k, size.k) && aligned(args.v, size.v) && aligned(args.y, size.y);
}

}  // namespace hone::device::cuda::attention_parts
