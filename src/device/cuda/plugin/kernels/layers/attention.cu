// See attention.hpp. These kernels are for GPUs without warpgroups, and for heads of any width.
#include <algorithm>

#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/layers/attention_parts.cuh"

namespace hone::device::cuda {

using namespace attention_parts;

namespace {

constexpr int kWarps = 4;
constexpr int kBlockThreads = 32 * kWarps;
static_assert(kWarps * kWarpRows == kTileKeys, "tiles of all operands have the same size at most");

/// Copies rows [first, first + kRows) of a matrix to shared memory, and zeros for rows beyond its end. The
/// rows of a tile are kDepth + kRun elements apart, so that they begin in different banks.
template <int kDepth, int kRows, class T>
__device__ __forceinline__ void load_tile(T* tile, const T* matrix, int64_t row_stride, int64_t first,
                                          int64_t rows, int columns, bool aligned) {
  constexpr int kRuns = kDepth / kRun;
  constexpr int kPitch = kDepth + kRun;
  const T* const from = matrix + first * row_stride;
  const int rows_left = static_cast<int>(min(rows - first, int64_t{kRows}));
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kRuns; i += kBlockThreads) {
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

/// scores = q k', not yet scaled.
template <int kDepth, int kBlocks, class T>
__device__ __forceinline__ void multiply_keys(Sums<kBlocks>& scores, const uint32_t (&q)[kDepth / 16][4],
                                              const T* keys) {
  constexpr int kPitch = kDepth + kRun;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = lane / 16 * 8 + lane % 8;
  const int column = lane / 8 % 2 * 8;
#pragma unroll
  for (int block = 0; block < kBlocks; block += 2) {
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

/// sums += weights v; the weights have the layout of the scores from multiply_keys().
template <int kDepth, int kBlocks, class T>
__device__ __forceinline__ void multiply_values(Sums<kDepth / 8>& sums, const Sums<kBlocks>& weights,
                                                const T* values) {
  constexpr int kPitch = kDepth + kRun;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = lane / 8 % 2 * 8 + lane % 8;
  const int column = lane / 16 * 8;
#pragma unroll
  for (int step = 0; step < kBlocks / 2; ++step) {
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

/// The pitch of a warp's mask rows in shared memory, chosen so that four rows begin in different banks.
template <int kKeys>
constexpr int kMaskPitch = kKeys + 8;
template <int kKeys>
constexpr int kMaskFloats = kWarpRows* kMaskPitch<kKeys>;

/// How the scores get their masks.
enum class MaskWay : uint8_t { kNone, kLoaded, kStaged };

/// True if the mask goes through shared memory. If lanes read it directly, two elements of eight rows at a
/// time, they would touch eight cache lines.
bool stages_mask(const AttentionSize& size) {
  return size.masks == 1 && !size.fill[0].fills && size.mask[0].column == 1;
}

/// Starts copying the warp's rows of the mask for `keys_left`
/// of its keys; `mask` points to the first key of row 0.
template <int kKeys>
__device__ __forceinline__ void copy_mask(float* to, const float* mask, const AttentionSize& size,
                                          int64_t first_row, int keys_left) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 8
  for (int i = lane; i < kWarpRows * kKeys; i += 32) {
    const int row = i / kKeys;
    const int key = i % kKeys;
    const bool is_there = key < keys_left;
    const float* const from = mask + min(first_row + row, size.rows - 1) * size.mask[0].row + key;
    ptx::copy4(ptx::shared_address(to + row * kMaskPitch<kKeys> + key), is_there ? from : mask, is_there);
  }
}

/// Adds the mask from copy_mask() to the scores and converts them to logarithms of base 2.
template <int kBlocks>
__device__ __forceinline__ void add_staged_mask(Sums<kBlocks>& scores, float scale, const float* mask) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const float* const from = mask + (lane / 4 + row * 8) * kMaskPitch<kBlocks * 8> + lane % 4 * 2;
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      const float2 added = *reinterpret_cast<const float2*>(from + block * 8);
      float* const pair = scores[block] + 2 * row;
      pair[0] = fmaf(pair[0], scale, in_base_2(added.x));
      pair[1] = fmaf(pair[1], scale, in_base_2(added.y));
    }
  }
}

}  // namespace

/// kDepth is the number of columns of all operands, rounded up. kSplit is the number of warps that share
/// rows; each takes its part of every tile's keys.
template <int kDepth, MaskWay kMasks, int kSplit, class T>
__global__ void __launch_bounds__(kBlockThreads)
    attention_kernel(const __grid_constant__ Params params, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  constexpr bool kStaged = kMasks == MaskWay::kStaged;
  constexpr int kTile = kTileKeys * (kDepth + kRun);
  T* const tiles = reinterpret_cast<T*>(memory);
  const AttentionSize& size = params.size;
  const Head head(params, blockIdx.x / params.row_tiles);
  constexpr int kTileRows = kTileKeys / kSplit;
  constexpr int kWarpKeys = kTileKeys / kSplit;
  const int64_t first_row = static_cast<int64_t>(blockIdx.x % params.row_tiles) * kTileRows;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp / kSplit * kWarpRows;
  const int warp_key = warp % kSplit * kWarpKeys;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const T* const queries = static_cast<const T*>(params.args.q) + head.offset(size.q);
  const T* const keys = static_cast<const T*>(params.args.k) + head.offset(size.k);
  const T* const values = static_cast<const T*>(params.args.v) + head.offset(size.v);
  T* const result = static_cast<T*>(params.args.y) + head.offset(size.y);
  MaskRows masks;
  if constexpr (kMasks == MaskWay::kLoaded) masks = mask_rows(size, head, first_row + warp_row + lane / 4);
  float* const mask_stages = reinterpret_cast<float*>(tiles + 4 * kTile) + warp * kMaskFloats<kWarpKeys>;
  const float* const mask =
      static_cast<const float*>(params.args.masks[0]) + (kStaged ? head.offset(size.mask[0]) : 0);
  begin_kernel(params.next_waits);
  const auto load = [&](int stage, int64_t first) {
    T* const tile = tiles + stage * 2 * kTile;
    load_tile<kDepth, kTileKeys>(tile, keys, size.k.row, first, size.keys, size.depth, params.aligned);
    load_tile<kDepth, kTileKeys>(tile + kTile, values, size.v.row, first, size.keys, size.width,
                                 params.aligned);
    if constexpr (kStaged) {
      const int64_t key = first + warp_key;
      copy_mask<kWarpKeys>(mask_stages + stage * kWarps * kMaskFloats<kWarpKeys>, mask + key, size,
                           first_row + warp_row, static_cast<int>(min(size.keys - key, int64_t{kWarpKeys})));
    }
    ptx::commit_copies();
  };
  // The queries use the memory of the second stage, which is not needed yet.
  load_tile<kDepth, kTileRows>(tiles + 2 * kTile, queries, size.q.row, first_row, size.rows, size.depth,
                               params.aligned);
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
    const int keys_left = static_cast<int>(min(size.keys - first, int64_t{kTileKeys})) - warp_key;
    // The masks are loaded while the products run.
    MaskTile<kWarpKeys / 8> added;
    if constexpr (kMasks == MaskWay::kLoaded) load_masks(added, params, masks, first + warp_key, keys_left);
    ptx::wait_copies<0>();
    // The copy has arrived, and no thread still reads the other stage.
    __syncthreads();
    if (first + kTileKeys < size.keys) load(stage ^ 1, first + kTileKeys);
    const T* const tile = tiles + stage * 2 * kTile + warp_key * (kDepth + kRun);
    Sums<kWarpKeys / 8> scores;
    multiply_keys<kDepth, kWarpKeys / 8>(scores, q, tile);
    if constexpr (kStaged) {
      add_staged_mask(scores, scale, mask_stages + stage * kWarps * kMaskFloats<kWarpKeys>);
      hide_keys(scores, keys_left);
      normalize(scores, 1.0f, state, sums);
    } else {
      weigh<kMasks != MaskWay::kNone>(scores, scale, added, keys_left, state, sums);
    }
    multiply_values<kDepth, kWarpKeys / 8>(sums, scores, tile + kTile);
  }
  if constexpr (kSplit == 1) {
    store_result<kDepth>(params, result, first_row + warp_row, sums, state);
  } else {
    store_joined<kDepth, kSplit, kWarps / kSplit>(params, result, first_row, sums, state, warp / kSplit,
                                                  warp % kSplit, reinterpret_cast<float*>(memory));
  }
}

namespace {

template <int kDepth, MaskWay kMasks, class T>
const void* kernel_for(int split) {
  if (split == 1) return kernel_address(&attention_kernel<kDepth, kMasks, 1, T>);
  return kernel_address(split == 2 ? &attention_kernel<kDepth, kMasks, 2, T>
                                   : &attention_kernel<kDepth, kMasks, 4, T>);
}

template <MaskWay kMasks, class T>
const void* kernel_for(int depth, int split) {
  if (depth <= 32) return kernel_for<32, kMasks, T>(split);
  if (depth <= 64) return kernel_for<64, kMasks, T>(split);
  if (depth <= 96) return kernel_for<96, kMasks, T>(split);
  return kernel_for<128, kMasks, T>(split);
}

template <class T>
const void* kernel_for(int depth, int split, MaskWay masks) {
  switch (masks) {
    case MaskWay::kNone: return kernel_for<MaskWay::kNone, T>(depth, split);
    case MaskWay::kLoaded: return kernel_for<MaskWay::kLoaded, T>(depth, split);
    case MaskWay::kStaged: return kernel_for<MaskWay::kStaged, T>(depth, split);
  }
  return nullptr;
}

}  // namespace

cudaError_t attention(const AttentionArgs& args, FloatType type, const AttentionSize& size, int split,
                      const LaunchOptions& options) {
  if (attention_refusal(size, *options.device) || type == FloatType::kFloat) return cudaErrorInvalidValue;
  if (split != 1 && split != 2 && split != 4) return cudaErrorInvalidValue;
  if (size.rows == 0 || size.heads() == 0) return cudaSuccess;
  const int tile_rows = kTileKeys / split;
  const int row_tiles = static_cast<int>((size.rows + tile_rows - 1) / tile_rows);
  const Params params = make_params(args, size, row_tiles, are_aligned(args, size), options.next_waits);
  const int depth = std::max(size.depth, size.width);
  const int padded = (depth + 31) / 32 * 32;
  const MaskWay masks = size.masks == 0     ? MaskWay::kNone
                        : stages_mask(size) ? MaskWay::kStaged
                                            : MaskWay::kLoaded;
  GemmLaunch launch;
  launch.function = type == FloatType::kHalf ? kernel_for<__half>(depth, split, masks)
                                             : kernel_for<__nv_bfloat16>(depth, split, masks);
  launch.blocks = row_tiles * size.heads();
  launch.threads = kBlockThreads;
  launch.shared_bytes = int64_t{4} * kTileKeys * (padded + kRun) * 2;
  if (masks == MaskWay::kStaged) {
    const int64_t pitch = kTileKeys / split + 8;
    launch.shared_bytes += (size.keys > kTileKeys ? 2 : 1) * kWarps * kWarpRows * pitch * 4;
  }
  return launch_gemm(launch, &params, options);
}

}  // namespace hone::device::cuda
