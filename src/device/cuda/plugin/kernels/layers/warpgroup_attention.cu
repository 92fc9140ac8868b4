// See attention.hpp: for warpgroups (compute capability 9.0), heads of up to 64 columns. A warpgroup has 64
// rows of queries; two of them may share the keys of the same rows. Tiles lie in rows of 128 bytes, swizzled
// as wgmma takes them.
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

/// Copies rows [first, first + 64) of a matrix to a tile, zeros for what it does not have, by `threads`
/// threads.
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

}  // namespace

template <bool kMasked, int kGroups, class T>
__global__ void __launch_bounds__(kGroups* kGroupThreads)
    warpgroup_attention_kernel(const __grid_constant__ Params params, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  const uint32_t shared = ptx::shared_address(memory);
  const AttentionSize& size = params.size;
  const Head head(size, blockIdx.x / params.row_tiles);
  const int64_t first_row = static_cast<int64_t>(blockIdx.x % params.row_tiles) * kTileKeys;
  const int thread = static_cast<int>(threadIdx.x) % kGroupThreads;
  const int group = ptx::warpgroup();
  const int warp_row = thread / 32 * kWarpRows;
  const int lane = thread % 32;
  const T* const queries = static_cast<const T*>(params.args.q) + head.offset(size.q);
  const T* const keys = static_cast<const T*>(params.args.k) + head.offset(size.k);
  const T* const values = static_cast<const T*>(params.args.v) + head.offset(size.v);
  T* const result = static_cast<T*>(params.args.y) + head.offset(size.y);
  MaskRows masks;
  if constexpr (kMasked) masks = mask_rows(size, head, first_row + warp_row + lane / 4);
  begin_kernel(params.next_waits);
  // Three stages of keys and values a warpgroup, behind the queries: of the tile whose weights are being
  // made, of the next one, whose scores are, and of one that comes.
  const uint32_t stages = shared + kTileBytes + group * kStages * 2 * kTileBytes;
  constexpr int kStride = kGroups * kTileKeys;
  const int tiles = static_cast<int>((size.keys - group * kTileKeys + kStride - 1) / kStride);
  const auto tile_of = [&](int number) { return stages + number % kStages * 2 * kTileBytes; };
  const auto load = [&](int number) {
    if (number < tiles) {
      const int64_t first = group * kTileKeys + static_cast<int64_t>(number) * kStride;
      const uint32_t tile = tile_of(number);
      load_tile(tile, keys, size.k.row, first, size.keys, size.depth, thread, kGroupThreads);
      load_tile(tile + kTileBytes, values, size.v.row, first, size.keys, size.width, thread, kGroupThreads);
    }
    ptx::commit_copies();
  };
  load_tile(shared, queries, size.q.row, first_row, size.rows, size.depth, static_cast<int>(threadIdx.x),
            kGroups * kGroupThreads);
  load(0);
  load(1);
  ptx::wait_copies<1>();
  ptx::fence_for_copies();
  __syncthreads();

  Sums<kDepth / 8> sums = {};
  Normalizers state;
  const float scale = size.scale * kLog2E;
  const uint64_t left = ptx::matrix_descriptor(shared);
  Sums<kTileKeys / 8> scores = {};
  const auto start_scores = [&](Sums<kTileKeys / 8>& of, int number) {
    const uint64_t right = ptx::matrix_descriptor(tile_of(number));
    ptx::fence_sums();
#pragma unroll
    for (int step = 0; step < kDepth / 16; ++step)
      ptx::multiply<T, kTileKeys>(flat(of), left + step * 2, right + step * 2);
    ptx::commit_products();
  };
  // A group without keys multiplies what lies there and looks at none of it: a product that may not be made
  // would have to be waited for at once, as would the one behind the last tile.
  start_scores(scores, 0);
  ptx::wait_products<0>();
  hold(scores);
  for (int number = 0; number < tiles; ++number) {
    const int64_t first = group * kTileKeys + static_cast<int64_t>(number) * kStride;
    const int keys_left = static_cast<int>(min(size.keys - first, int64_t{kTileKeys}));
    MaskTile<kTileKeys / 8> added;
    if constexpr (kMasked) load_masks(added, params, masks, first, keys_left);
    // The next tile has come, and nobody reads the one before any more.
    ptx::wait_copies<0>();
    ptx::fence_for_copies();
    ptx::sync_threads(1 + group, kGroupThreads);
    load(number + 2);
    Sums<kTileKeys / 8> next = {};
    start_scores(next, min(number + 1, tiles - 1));
    weigh<kMasked>(scores, scale, added, keys_left, state, sums);
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
  if constexpr (kGroups == 1) {
    store_result<kDepth>(params, result, first_row + warp_row, sums, state);
  } else {
    store_joined<kDepth, kGroups, kTileKeys / kWarpRows>(params, result, first_row, sums, state, thread / 32,
                                                         group, reinterpret_cast<float*>(memory));
  }
}

namespace {

template <bool kMasked, class T>
const void* kernel_for(int groups) {
  return kernel_address(groups == 1 ? &warpgroup_attention_kernel<kMasked, 1, T>
                                    : &warpgroup_attention_kernel<kMasked, 2, T>);
}

template <class T>
const void* kernel_for(int groups, bool masked) {
  return masked ? kernel_for<true, T>(groups) : kernel_for<false, T>(groups);
}

}  // namespace

cudaError_t warpgroup_attention(const AttentionArgs& args, FloatType type, const AttentionSize& size,
                                int groups, const LaunchOptions& options) {
  if (warpgroup_attention_refusal(size, *options.device) || type == FloatType::kFloat)
    return cudaErrorInvalidValue;
  if (groups != 1 && groups != 2) return cudaErrorInvalidValue;
  if (!are_aligned(args, size)) return attention(args, type, size, 1, options);  // a pointer is not
  if (size.rows == 0 || size.heads() == 0) return cudaSuccess;
  const int row_tiles = static_cast<int>((size.rows + kTileKeys - 1) / kTileKeys);
  const Params params{args, size, row_tiles, true, options.next_waits};
  GemmLaunch launch;
  launch.function = type == FloatType::kHalf ? kernel_for<__half>(groups, size.masks > 0)
                                             : kernel_for<__nv_bfloat16>(groups, size.masks > 0);
  launch.blocks = row_tiles * size.heads();
  launch.threads = groups * kGroupThreads;
  launch.shared_bytes = int64_t{kTileBytes} * (1 + 2 * kStages * groups);
  return launch_gemm(launch, &params, options);
}

}  // namespace hone::device::cuda
