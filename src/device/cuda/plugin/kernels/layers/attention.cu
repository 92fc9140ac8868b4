// See attention.hpp.
#include "device/cuda/plugin/kernels/layers/attention.hpp"

#include <algorithm>
#include <cfloat>

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"

namespace hone::device::cuda {
namespace {

constexpr int kWarps = 4;
constexpr int kBlockThreads = 32 * kWarps;
constexpr int kWarpRows = 16;
constexpr int kTileRows = kWarps * kWarpRows;
constexpr int kTileKeys = 64;
static_assert(kTileRows == kTileKeys, "tiles of all operands have the same size");
/// Elements in 16 bytes. As many lie between the rows of a tile, so that these begin in different banks.
constexpr int kRun = 8;
constexpr float kLog2E = 1.4426950408889634f;

struct Params {
  AttentionArgs args;
  AttentionSize size;
  int row_tiles = 1;
  /// Whether every run of an operand begins at a multiple of 16 bytes.
  bool aligned = false;
  bool next_waits = false;
};

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

  __device__ __forceinline__ Head(const AttentionSize& size, int64_t head) {
#pragma unroll
    for (int i = AttentionMatrix::kMostLoops - 1; i >= 0; --i) {
      index[i] = 0;
      if (i >= size.loops) continue;
      index[i] = head % size.lengths[i];
      head /= size.lengths[i];
    }
  }
  __device__ __forceinline__ int64_t offset(const AttentionMatrix& matrix) const {
    int64_t offset = matrix.offset;
#pragma unroll
    for (int i = 0; i < AttentionMatrix::kMostLoops; ++i) offset += index[i] * matrix.loops[i];
    return offset;
  }
};

/// Copies rows [first, first + kTileKeys) of a matrix to shared memory, zeros for what it does not have.
template <int kDepth, class T>
__device__ __forceinline__ void load_tile(T* tile, const T* matrix, int64_t row_stride, int64_t first,
                                          int64_t rows, int columns, bool aligned) {
  constexpr int kRuns = kDepth / kRun;
  constexpr int kPitch = kDepth + kRun;
  const T* const from = matrix + first * row_stride;
  const int rows_left = static_cast<int>(min(rows - first, int64_t{kTileKeys}));
#pragma unroll
  for (int k = 0; k < kTileKeys * kRuns / kBlockThreads; ++k) {
    const int i = static_cast<int>(threadIdx.x) + k * kBlockThreads;
    const int row = i / kRuns;
    const int column = i % kRuns * kRun;
    T* const target = tile + row * kPitch + column;
    const bool valid = row < rows_left && column < columns;
    const T* const source = valid ? from + row * row_stride + column : matrix;
    if (aligned) {
      ptx::copy16(ptx::shared_address(target), source, valid);
      continue;
    }
#pragma unroll 1
    for (int j = 0; j < kRun; ++j)
      target[j] = valid && column + j < columns ? source[j] : from_float<T>(0.0f);
  }
}

/// What a thread has of a warp's 16 rows: two rows, and two neighbouring columns of every eight.
template <int kBlocks>
using Sums = float[kBlocks][4];

/// The largest score so far and the sum of exponentials relative to it, of a thread's two rows.
struct Normalizers {
  float largest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0.0f, 0.0f};
};

/// scores = q k', without scale.
template <int kDepth, class T>
__device__ __forceinline__ void multiply_keys(Sums<kTileKeys / 8>& scores,
                                              const uint32_t (&q)[kDepth / 16][4], const T* keys) {
  constexpr int kPitch = kDepth + kRun;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = lane / 16 * 8 + lane % 8;
  const int column = lane / 8 % 2 * 8;
#pragma unroll
  for (int block = 0; block < kTileKeys / 8; block += 2) {
#pragma unroll
    for (int i = 0; i < 4; ++i) scores[block][i] = scores[block + 1][i] = 0.0f;
#pragma unroll
    for (int step = 0; step < kDepth / 16; ++step) {
      uint32_t k[4];
      ptx::load_matrix_x4(k, ptx::shared_address(keys + (block * 8 + row) * kPitch + step * 16 + column));
      ptx::mma<T>(scores[block], q[step], k[0], k[1]);
      ptx::mma<T>(scores[block + 1], q[step], k[2], k[3]);
    }
  }
}

/// sums += weights v, with weights as multiply_keys() leaves scores.
template <int kDepth, class T>
__device__ __forceinline__ void multiply_values(Sums<kDepth / 8>& sums, const Sums<kTileKeys / 8>& weights,
                                                const T* values) {
  constexpr int kPitch = kDepth + kRun;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = lane / 8 % 2 * 8 + lane % 8;
  const int column = lane / 16 * 8;
#pragma unroll
  for (int step = 0; step < kTileKeys / 16; ++step) {
    const float(&left)[4] = weights[2 * step];
    const float(&right)[4] = weights[2 * step + 1];
    const uint32_t p[4] = {pair<T>(left[0], left[1]), pair<T>(left[2], left[3]), pair<T>(right[0], right[1]),
                           pair<T>(right[2], right[3])};
#pragma unroll
    for (int block = 0; block < kDepth / 8; block += 2) {
      uint32_t v[4];
      ptx::load_matrix_x4_transposed(
          v, ptx::shared_address(values + (step * 16 + row) * kPitch + block * 8 + column));
      ptx::mma<T>(sums[block], p, v[0], v[1]);
      ptx::mma<T>(sums[block + 1], p, v[2], v[3]);
    }
  }
}

/// The larger of the values of four neighbouring lanes, which share a row.
__device__ __forceinline__ float largest_of_row(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
  return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}

__device__ __forceinline__ float sum_of_row(float value) {
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  return value + __shfl_xor_sync(0xffffffffu, value, 2);
}

/// Where the masks of a thread's two rows begin, in elements of each mask.
struct MaskRows {
  int64_t rows[AttentionSize::kMostMasks][2];
};

/// Times the logarithm that scores are in, where finite masks stay finite: a row of nothing but the lowest
/// float is a row of equal scores.
__device__ __forceinline__ float in_base_2(float mask) {
  const float scaled = mask * kLog2E;
  const bool finite = mask > -INFINITY && mask < INFINITY;
  return finite ? fminf(fmaxf(scaled, -FLT_MAX), FLT_MAX) : scaled;
}

/// Adds masks to the scores, or fills in what masks say.
__device__ __forceinline__ void add_masks(Sums<kTileKeys / 8>& scores, const Params& params,
                                          const MaskRows& masks, int64_t first_key, int keys_left) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int m = 0; m < AttentionSize::kMostMasks; ++m) {
    if (m >= params.size.masks) break;
    const int64_t column = params.size.mask[m].column;
    const int64_t rows[2] = {masks.rows[m][0] + first_key * column, masks.rows[m][1] + first_key * column};
    const AttentionFill fill = params.size.fill[m];
    const float filled = in_base_2(fill.value);
    const auto* const added = static_cast<const float*>(params.args.masks[m]);
    const auto* const hidden = static_cast<const unsigned char*>(params.args.masks[m]);
#pragma unroll
    for (int block = 0; block < kTileKeys / 8; ++block) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int key = block * 8 + lane % 4 * 2 + i % 2;
        if (key >= keys_left) continue;
        const int64_t at = rows[i / 2] + key * column;
        if (!fill.fills) {
          scores[block][i] += in_base_2(added[at]);
        } else if ((hidden[at] != 0) == fill.where) {
          scores[block][i] = filled;
        }
      }
    }
  }
}

/// Makes scores, by now in logarithms of base 2, exponentials relative to the largest so far, and brings what
/// is summed already to it.
template <int kBlocks>
__device__ __forceinline__ void normalize(Sums<kTileKeys / 8>& scores, Normalizers& state,
                                          Sums<kBlocks>& sums) {
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    float largest = state.largest[row];
#pragma unroll
    for (int block = 0; block < kTileKeys / 8; ++block)
      largest = fmaxf(largest, fmaxf(scores[block][2 * row], scores[block][2 * row + 1]));
    largest = largest_of_row(largest);
    // Of a row without any score yet, whose exponentials are zeros.
    const float shift = largest == -INFINITY ? 0.0f : largest;
    const float factor = ptx::power_of_two(state.largest[row] - shift);
    state.largest[row] = largest;
    float sum = state.sum[row] * factor;
#pragma unroll
    for (int block = 0; block < kTileKeys / 8; ++block) {
#pragma unroll
      for (int i = 2 * row; i < 2 * row + 2; ++i) {
        scores[block][i] = ptx::power_of_two(scores[block][i] - shift);
        sum += scores[block][i];
      }
    }
    state.sum[row] = sum;
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      sums[block][2 * row] *= factor;
      sums[block][2 * row + 1] *= factor;
    }
  }
}

/// Brings scores to logarithms of base 2, and those of keys that there are not to minus infinity.
__device__ __forceinline__ void scale_scores(Sums<kTileKeys / 8>& scores, float scale, int keys_left) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int block = 0; block < kTileKeys / 8; ++block) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int key = block * 8 + lane % 4 * 2 + i % 2;
      scores[block][i] = key < keys_left ? scores[block][i] * scale : -INFINITY;
    }
  }
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

}  // namespace

/// kDepth: the columns of all operands, rounded up.
template <int kDepth, bool kMasked, class T>
__global__ void __launch_bounds__(kBlockThreads)
    attention_kernel(const __grid_constant__ Params params, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  constexpr int kTile = kTileKeys * (kDepth + kRun);
  T* const tiles = reinterpret_cast<T*>(memory);
  const AttentionSize& size = params.size;
  const Head head(size, blockIdx.x / params.row_tiles);
  const int64_t first_row = static_cast<int64_t>(blockIdx.x % params.row_tiles) * kTileRows;
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * kWarpRows;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const T* const queries = static_cast<const T*>(params.args.q) + head.offset(size.q);
  const T* const keys = static_cast<const T*>(params.args.k) + head.offset(size.k);
  const T* const values = static_cast<const T*>(params.args.v) + head.offset(size.v);
  T* const result = static_cast<T*>(params.args.y) + head.offset(size.y);
  MaskRows masks;
  if constexpr (kMasked) {
#pragma unroll
    for (int m = 0; m < AttentionSize::kMostMasks; ++m) {
      if (m >= size.masks) break;
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        const int64_t at = min(first_row + warp_row + lane / 4 + row * 8, size.rows - 1);
        masks.rows[m][row] = head.offset(size.mask[m]) + at * size.mask[m].row;
      }
    }
  }
  begin_kernel(params.next_waits);
  const auto load = [&](int stage, int64_t first) {
    T* const tile = tiles + stage * 2 * kTile;
    load_tile<kDepth>(tile, keys, size.k.row, first, size.keys, size.depth, params.aligned);
    load_tile<kDepth>(tile + kTile, values, size.v.row, first, size.keys, size.width, params.aligned);
    ptx::commit_copies();
  };
  // The queries go through the second stage, which is not needed yet.
  load_tile<kDepth>(tiles + 2 * kTile, queries, size.q.row, first_row, size.rows, size.depth, params.aligned);
  load(0, 0);
  ptx::wait_copies<0>();
  __syncthreads();

  uint32_t q[kDepth / 16][4];
#pragma unroll
  for (int step = 0; step < kDepth / 16; ++step) {
    ptx::load_matrix_x4(q[step],
                        ptx::shared_address(tiles + 2 * kTile + (warp_row + lane % 16) * (kDepth + kRun) +
                                            step * 16 + lane / 16 * 8));
  }
  Sums<kDepth / 8> sums = {};
  Normalizers state;
  const float scale = size.scale * kLog2E;
  int stage = 0;
  for (int64_t first = 0; first < size.keys; first += kTileKeys, stage ^= 1) {
    ptx::wait_copies<0>();
    // What is copied is there, and nobody reads the other stage any more.
    __syncthreads();
    if (first + kTileKeys < size.keys) load(stage ^ 1, first + kTileKeys);
    const T* const tile = tiles + stage * 2 * kTile;
    const int keys_left = static_cast<int>(min(size.keys - first, int64_t{kTileKeys}));
    Sums<kTileKeys / 8> scores;
    multiply_keys<kDepth>(scores, q, tile);
    scale_scores(scores, scale, keys_left);
    if constexpr (kMasked) add_masks(scores, params, masks, first, keys_left);
    normalize(scores, state, sums);
    multiply_values<kDepth>(sums, scores, tile + kTile);
  }
  store_result<kDepth>(params, result, first_row + warp_row, sums, state);
}

namespace {

template <bool kMasked, class T>
const void* kernel_for(int depth) {
  if (depth <= 32) return kernel_address(&attention_kernel<32, kMasked, T>);
  if (depth <= 64) return kernel_address(&attention_kernel<64, kMasked, T>);
  if (depth <= 96) return kernel_address(&attention_kernel<96, kMasked, T>);
  return kernel_address(&attention_kernel<128, kMasked, T>);
}

template <class T>
const void* kernel_for(int depth, bool masked) {
  return masked ? kernel_for<true, T>(depth) : kernel_for<false, T>(depth);
}

bool is_aligned(const void* pointer, const AttentionMatrix& matrix) {
  const auto in_runs = [](int64_t elements) { return elements % kRun == 0; };
  return reinterpret_cast<uintptr_t>(pointer) % 16 == 0 && in_runs(matrix.offset) && in_runs(matrix.row) &&
         std::all_of(std::begin(matrix.loops), std::end(matrix.loops), in_runs);
}

}  // namespace

cudaError_t attention(const AttentionArgs& args, FloatType type, const AttentionSize& size,
                      const LaunchOptions& options) {
  if (attention_refusal(size, *options.device) || type == FloatType::kFloat) return cudaErrorInvalidValue;
  if (size.rows == 0 || size.heads() == 0) return cudaSuccess;
  const int row_tiles = static_cast<int>((size.rows + kTileRows - 1) / kTileRows);
  const bool aligned = size.depth % kRun == 0 && size.width % kRun == 0 && is_aligned(args.q, size.q) &&
                       is_aligned(args.k, size.k) && is_aligned(args.v, size.v) && is_aligned(args.y, size.y);
  const Params params{args, size, row_tiles, aligned, options.next_waits};
  const int depth = std::max(size.depth, size.width);
  const int padded = (depth + 31) / 32 * 32;
  GemmLaunch launch;
  launch.function = type == FloatType::kHalf ? kernel_for<__half>(depth, size.masks > 0)
                                             : kernel_for<__nv_bfloat16>(depth, size.masks > 0);
  launch.blocks = row_tiles * size.heads();
  launch.threads = kBlockThreads;
  launch.shared_bytes = int64_t{4} * kTileKeys * (padded + kRun) * 2;
  return launch_gemm(launch, &params, options);
}

}  // namespace hone::device::cuda
