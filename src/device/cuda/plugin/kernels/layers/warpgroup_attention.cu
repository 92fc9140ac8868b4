// See attention.hpp. This kernel is for warpgroups (compute capability 9.0) and heads of up to 64 columns. A
// warpgroup has 64 rows of queries. Two warpgroups share the keys of the same rows, or have separate rows and
// read the same tiles of keys. Tiles have rows of 128 bytes, swizzled for wgmma.
//
//   shared memory   queries of each group's rows | three stages of keys and values | masks of the keys
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/wgmma.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/layers/attention_parts.cuh"

namespace hone::device::cuda {

using namespace attention_parts;

namespace {

constexpr int kDepth = 64;
constexpr int kGroupThreads = 128;
constexpr int kRowBytes = kDepth * 2;
constexpr int kTileBytes = kTileKeys * kRowBytes;
constexpr int kStages = 3;

/// The masks that are added to scores: none, one number for each key, or any masks.
enum class Masking : uint8_t { kNone, kByKey, kAny };
/// The most keys for which a block keeps masks in shared memory.
constexpr int64_t kMostMaskedKeys = 4096;

/// Copies rows [first, first + 64) of a matrix to a tile,
/// and zeros for rows past its end, with `threads` threads.
template <class T>
__device__ __forceinline__ void load_tile(uint32_t tile, const T* matrix, int64_t row_stride, int64_t first,
                                          int64_t rows, int columns, int thread, int threads) {
  constexpr int kRuns = kDepth / kRun;
  const T* const from = matrix + first * row_stride;
  const int rows_left = static_cast<int>(min(rows - first, int64_t{kTileKeys}));
#pragma unroll
  for (int i = thread; i < kTileKeys * kRuns; i += threads) {
    const int row = i / kRuns;
    const int run = i % kRuns;
    const bool valid = row < rows_left && run * kRun < columns;
    ptx::copy16(tile + row * kRowBytes + ((run ^ (row & 7)) << 4),
                valid ? from + row * row_stride + run * kRun : matrix, valid);
  }
}

/// The sums of all masks for each key, as logarithms of base 2; minus infinity for keys past the end.
__device__ __forceinline__ void load_key_masks(const Params& params, const Head& head, float* to) {
  const AttentionSize& size = params.size;
  const int64_t padded = (size.keys + kTileKeys - 1) / kTileKeys * kTileKeys;
  for (int64_t key = threadIdx.x; key < padded; key += blockDim.x) {
    float added = key < size.keys ? 0.0f : -INFINITY;
#pragma unroll
    for (int m = 0; m < AttentionSize::kMostMasks; ++m) {
      if (m >= size.masks || key >= size.keys) break;
      const AttentionMatrix& mask = size.mask[m];
      added +=
          in_base_2(static_cast<const float*>(params.args.masks[m])[head.offset(mask) + key * mask.column]);
    }
    to[key] = added;
  }
}

/// The softmax of the scores of one tile of keys, after adding `masks`.
template <int kBlocks, int kColumns>
__device__ __forceinline__ void weigh_by_key(Sums<kBlocks>& scores, float scale, const float* masks,
                                             Normalizers& state, Sums<kColumns>& sums) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
    const float2 added = *reinterpret_cast<const float2*>(masks + block * 8 + lane % 4 * 2);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      scores[block][i] = fmaf(scores[block][i], scale, i % 2 == 0 ? added.x : added.y);
  }
  normalize(scores, 1.0f, state, sums);
}

/// The number of blocks that should fit into the registers of a multiprocessor.
constexpr int least_blocks(Masking masking, int groups, bool share_keys) {
  if (masking == Masking::kAny) return 1;
  if (groups == 1) return 3;
  return share_keys ? 2 : 1;
}

}  // namespace

/// With kShareKeys, each group has its own rows and all groups read the same tiles. Otherwise the groups
/// share the keys of the same rows.
template <Masking kMasking, int kGroups, bool kShareKeys, class T>
__global__ void __launch_bounds__(kGroups* kGroupThreads, least_blocks(kMasking, kGroups, kShareKeys))
    warpgroup_attention_kernel(const __grid_constant__ Params params, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  const uint32_t shared = ptx::shared_address(memory);
  constexpr int kRowGroups = kShareKeys ? kGroups : 1;
  constexpr int kKeyGroups = kShareKeys ? 1 : kGroups;
  /// Number of threads that read the same tiles.
  constexpr int kTileThreads = kRowGroups * kGroupThreads;
  const AttentionSize& size = params.size;
  const Head head(params, blockIdx.x / params.row_tiles);
  const int64_t first_row = static_cast<int64_t>(blockIdx.x % params.row_tiles) * (kRowGroups * kTileKeys);
  const int group = ptx::warpgroup();
  const int key_group = kShareKeys ? 0 : group;
  const int row_group = kShareKeys ? group : 0;
  const int thread = static_cast<int>(threadIdx.x) % kTileThreads;
  const int warp_row = row_group * kTileKeys + static_cast<int>(threadIdx.x) % kGroupThreads / 32 * kWarpRows;
  const int lane = thread % 32;
  const T* const queries = static_cast<const T*>(params.args.q) + head.offset(size.q);
  const T* const keys = static_cast<const T*>(params.args.k) + head.offset(size.k);
  const T* const values = static_cast<const T*>(params.args.v) + head.offset(size.v);
  T* const result = static_cast<T*>(params.args.y) + head.offset(size.y);
  MaskRows masks;
  if constexpr (kMasking == Masking::kAny) masks = mask_rows(size, head, first_row + warp_row + lane / 4);
  begin_kernel(params.next_waits);
  // After the queries, each warpgroup has three stages of keys and values: for the tile whose weights are
  // computed, for the next tile, whose scores are computed, and for a tile that is being copied.
  constexpr int kStagesBytes = kStages * 2 * kTileBytes;
  const uint32_t stages = shared + kRowGroups * kTileBytes + key_group * kStagesBytes;
  auto* const key_masks =
      reinterpret_cast<float*>(memory + kRowGroups * kTileBytes + kKeyGroups * kStagesBytes);
  constexpr int kStride = kKeyGroups * kTileKeys;
  const int tiles = static_cast<int>((size.keys - key_group * kTileKeys + kStride - 1) / kStride);
  const auto tile_of = [&](int number) { return stages + number % kStages * 2 * kTileBytes; };
  const auto load = [&](int number) {
    if (number < tiles) {
      const int64_t first = key_group * kTileKeys + static_cast<int64_t>(number) * kStride;
      const uint32_t tile = tile_of(number);
      load_tile(tile, keys, size.k.row, first, size.keys, size.depth, thread, kTileThreads);
      load_tile(tile + kTileBytes, values, size.v.row, first, size.keys, size.width, thread, kTileThreads);
    }
    ptx::commit_copies();
  };
#pragma unroll
  for (int r = 0; r < kRowGroups; ++r)
    load_tile(shared + r * kTileBytes, queries, size.q.row, first_row + r * kTileKeys, size.rows, size.depth,
              static_cast<int>(threadIdx.x), kGroups * kGroupThreads);
  load(0);
  load(1);
  if constexpr (kMasking == Masking::kByKey) load_key_masks(params, head, key_masks);
  ptx::wait_copies<1>();
  ptx::fence_for_copies();
  __syncthreads();

  Sums<kDepth / 8> sums = {};
  Normalizers state;
  const float scale = size.scale * kLog2E;
  const uint64_t left = ptx::matrix_descriptor(shared + row_group * kTileBytes);
  Sums<kTileKeys / 8> scores = {};
  const auto start_scores = [&](Sums<kTileKeys / 8>& of, int number) {
    const uint64_t right = ptx::matrix_descriptor(tile_of(number));
    ptx::fence_sums();
#pragma unroll
    for (int step = 0; step < kDepth / 16; ++step)
      ptx::multiply<T, kTileKeys>(flat(of), left + step * 2, right + step * 2);
    ptx::commit_products();
  };
  // A group without keys, like the product after the last tile, multiplies whatever is in memory; the result
  // is ignored. If a product were conditional, the group would have to wait for it at once.
  start_scores(scores, 0);
  ptx::wait_products<0>();
  hold(scores);
  for (int number = 0; number < tiles; ++number) {
    const int64_t first = key_group * kTileKeys + static_cast<int64_t>(number) * kStride;
    const int keys_left = static_cast<int>(min(size.keys - first, int64_t{kTileKeys}));
    MaskTile<kTileKeys / 8> added;
    if constexpr (kMasking == Masking::kAny) load_masks(added, params, masks, first, keys_left);
    // The next tile has arrived, and no thread still reads the previous one.
    ptx::wait_copies<0>();
    ptx::fence_for_copies();
    ptx::sync_threads(1 + key_group, kTileThreads);
    load(number + 2);
    Sums<kTileKeys / 8> next = {};
    start_scores(next, min(number + 1, tiles - 1));
    if constexpr (kMasking == Masking::kByKey) {
      weigh_by_key(scores, scale, key_masks + first, state, sums);
    } else {
      weigh<kMasking == Masking::kAny>(scores, scale, added, keys_left, state, sums);
    }
    uint32_t weights[kTileKeys / 16][4];
#pragma unroll
    for (int step = 0; step < kTileKeys / 16; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        weights[step][i] =
            pair<T>(scores[2 * step + i / 2][i % 2 * 2], scores[2 * step + i / 2][i % 2 * 2 + 1]);
    }
    const uint64_t across = ptx::matrix_descriptor(tile_of(number) + kTileBytes);
    hold(sums);
    ptx::fence_sums();
#pragma unroll
    for (int step = 0; step < kTileKeys / 16; ++step)
      ptx::multiply_across<T>(flat(sums), weights[step], across + step * (16 * kRowBytes >> 4));
    ptx::commit_products();
    ptx::wait_products<0>();
    hold(sums);
    hold(next);
#pragma unroll
    for (int block = 0; block < kTileKeys / 8; ++block) {
#pragma unroll
      for (int i = 0; i < 4; ++i) scores[block][i] = next[block][i];
    }
  }
  if constexpr (kKeyGroups == 1) {
    store_result<kDepth>(params, result, first_row + warp_row, sums, state);
  } else {
    store_joined<kDepth, kKeyGroups, kTileKeys / kWarpRows>(
        params, result, first_row, sums, state, thread / 32, group, reinterpret_cast<float*>(memory));
  }
}

namespace {

template <Masking kMasking, class T>
const void* kernel_for(WarpgroupShares shares) {
  switch (shares) {
    case WarpgroupShares::kRows: return kernel_address(&warpgroup_attention_kernel<kMasking, 2, false, T>);
    case WarpgroupShares::kKeys: return kernel_address(&warpgroup_attention_kernel<kMasking, 2, true, T>);
    default: return kernel_address(&warpgroup_attention_kernel<kMasking, 1, false, T>);
  }
}

template <class T>
const void* kernel_for(WarpgroupShares shares, Masking masking) {
  switch (masking) {
    case Masking::kNone: return kernel_for<Masking::kNone, T>(shares);
    case Masking::kByKey: return kernel_for<Masking::kByKey, T>(shares);
    default: return kernel_for<Masking::kAny, T>(shares);
  }
}

Masking masking_of(const AttentionSize& size) {
  if (size.masks == 0) return Masking::kNone;
  for (int m = 0; m < size.masks; ++m) {
    // A fill must also hide scores that are NaN.
    if (size.mask[m].row != 0 || size.fill[m].fills) return Masking::kAny;
  }
  return size.keys <= kMostMaskedKeys ? Masking::kByKey : Masking::kAny;
}

}  // namespace

cudaError_t warpgroup_attention(const AttentionArgs& args, FloatType type, const AttentionSize& size,
                                int shares, const LaunchOptions& options) {
  if (warpgroup_attention_refusal(size, *options.device) || type == FloatType::kFloat)
    return cudaErrorInvalidValue;
  const auto way = static_cast<WarpgroupShares>(shares);
  if (way != WarpgroupShares::kNothing && way != WarpgroupShares::kRows && way != WarpgroupShares::kKeys)
    return cudaErrorInvalidValue;
  if (!are_aligned(args, size)) return attention(args, type, size, 1, options);  // a pointer is misaligned
  if (size.rows == 0 || size.heads() == 0) return cudaSuccess;
  const int row_groups = way == WarpgroupShares::kKeys ? 2 : 1;
  const int key_groups = way == WarpgroupShares::kRows ? 2 : 1;
  const int64_t block_rows = int64_t{row_groups} * kTileKeys;
  const int row_tiles = static_cast<int>((size.rows + block_rows - 1) / block_rows);
  const Params params = make_params(args, size, row_tiles, true, options.next_waits);
  const Masking masking = masking_of(size);
  const int64_t tiles_of_keys = (size.keys + kTileKeys - 1) / kTileKeys;
  GemmLaunch launch;
  launch.function =
      type == FloatType::kHalf ? kernel_for<__half>(way, masking) : kernel_for<__nv_bfloat16>(way, masking);
  launch.blocks = row_tiles * size.heads();
  launch.threads = row_groups * key_groups * kGroupThreads;
  launch.shared_bytes = int64_t{kTileBytes} * (row_groups + 2 * kStages * key_groups);
  if (masking == Masking::kByKey) launch.shared_bytes += tiles_of_keys * kTileKeys * int64_t{sizeof(float)};
  return launch_gemm(launch, &params, options);
}

}  // namespace hone::device::cuda
