// See attention.hpp. This kernel is for few rows, such as a decoder's token. One row of one head belongs to a
// block, or to a cluster of blocks that share its keys. A few adjacent lanes of a warp read one key and its
// value in runs of 16 bytes, and have their own softmax. A block joins the results of its warps, and the
// first block of a cluster joins the results of all blocks.
//
//   keys   0 1 2 3 | 4 5 6 7 | ...      a warp has 32 / kLanes of them at a time, kAhead times
//            |         |
//          warp 0    warp 1    ...      of block 0, then those of block 1, ...
//            +---------+----> block's {largest, sum, values[kColumns]} ----> block 0 of the cluster ----> y
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/layers/attention_parts.cuh"

namespace hone::device::cuda {

using namespace attention_parts;

namespace {

constexpr int kWarps = 8;
constexpr int kMostParts = 8;
/// The number of keys that a lane loads before it uses any of them.
constexpr int kAhead = 4;

struct RowParams {
  Params of;
  int parts;             ///< blocks that share the keys of a row
  AppendedRow appended;  ///< used only if the kernel appends a row
};

/// The largest score so far, and the sum of exponentials relative to it.
struct Found {
  float largest = -INFINITY;
  float sum = 0.0f;
};

/// The factor that rescales from `largest` to `top`; if `top` is minus infinity, there are no scores yet.
__device__ __forceinline__ float factor_to(float largest, float top) {
  return ptx::power_of_two(largest - (top == -INFINITY ? 0.0f : top));
}

/// A lane's partial result for its columns of the values.
struct Weighed {
  Found found;
  float values[kRun] = {};

  __device__ __forceinline__ void join(const Weighed& other) {
    const float top = fmaxf(found.largest, other.found.largest);
    const float own = factor_to(found.largest, top);
    const float others = factor_to(other.found.largest, top);
    found.sum = found.sum * own + other.found.sum * others;
#pragma unroll
    for (int i = 0; i < kRun; ++i) values[i] = values[i] * own + other.values[i] * others;
    found.largest = top;
  }
};

/// The partial results of several warps or blocks, next to each other in shared memory.
template <int kColumns>
struct Shares {
  Found found[kWarps];
  float values[kWarps][kColumns];

  /// Joins `count` of them, for one column of the values.
  __device__ __forceinline__ Found join(int count, int column, float& value) const {
    Found all;
    for (int i = 0; i < count; ++i) all.largest = fmaxf(all.largest, found[i].largest);
    value = 0.0f;
    for (int i = 0; i < count; ++i) {
      const float factor = factor_to(found[i].largest, all.largest);
      all.sum = fmaf(found[i].sum, factor, all.sum);
      value = fmaf(values[i][column], factor, value);
    }
    return all;
  }
};
static_assert(kMostParts <= kWarps);

/// The row that is appended to keys and values: none, one as it is, or one that is rotated together with the
/// queries. The lanes that own its place read it from its source and write it to the caches.
enum class Appends : uint8_t { kNothing, kRow, kTurnedRow };

/// A lane's run of a row and the data to rotate it: x * cos + turned(x) * sin. All loads of a lane are issued
/// before the first use.
template <bool kRotates, class T>
struct RowRun {
  T own[kRun];
  T other[kRun];  ///< the run in the row's other half
  T cosines[kRun];
  T sines[kRun];

  __device__ __forceinline__ void load_from(const T* row, const RowRotation& by, int run, int depth) {
    load<kRun>(row + run, own);
    if constexpr (kRotates) {
      load<kRun>(row + (run < depth / 2 ? run + depth / 2 : run - depth / 2), other);
      load<kRun>(static_cast<const T*>(by.cosines) + run, cosines);
      load<kRun>(static_cast<const T*>(by.sines) + run, sines);
    }
  }

  /// Rotates `own`.
  __device__ __forceinline__ void turn(int run, int depth) {
    if constexpr (kRotates) {
      const float sign = run < depth / 2 ? -1.0f : 1.0f;
#pragma unroll
      for (int c = 0; c < kRun; ++c)
        own[c] = from_float<T>(to_float(own[c]) * to_float(cosines[c]) +
                               sign * to_float(other[c]) * to_float(sines[c]));
    }
  }
};

/// A lane's run of the appended row.
template <bool kRotates, class T>
struct Fresh {
  int64_t place = -1;
  RowRun<kRotates, T> key;
  T value[kRun];

  __device__ __forceinline__ void load_from(const AppendedRow& row, const Head& head,
                                            const AttentionSize& size, int key_run, int value_run) {
    place = *row.place;
    key.load_from(static_cast<const T*>(row.k) + head.offset(row.k_heads), row.k_rotation, key_run,
                  size.depth);
    load<kRun>(static_cast<const T*>(row.v) + head.offset(row.v_heads) + value_run, value);
  }

  __device__ __forceinline__ void put(T (&k)[kRun], T (&v)[kRun]) const {
#pragma unroll
    for (int c = 0; c < kRun; ++c) {
      k[c] = key.own[c];
      v[c] = value[c];
    }
  }
};

/// True if no earlier head shares this head's keys.
__device__ __forceinline__ bool is_first_of_its_keys(const AttentionSize& size, const Head& head) {
  bool first = true;
#pragma unroll
  for (int i = 0; i < AttentionMatrix::kMostLoops; ++i) {
    const bool shared = size.k.loops[i] == 0 && size.v.loops[i] == 0;
    first = first && !(shared && head.index[i] != 0);
  }
  return first;
}

/// The masks' values for the keys that a lane has loaded.
struct Masks {
  float values[AttentionSize::kMostMasks][kAhead];

  __device__ __forceinline__ void load(const Params& params, const int64_t (&rows)[AttentionSize::kMostMasks],
                                       int64_t first, int64_t stride) {
#pragma unroll
    for (int m = 0; m < AttentionSize::kMostMasks; ++m) {
      if (m >= params.size.masks) break;
      const void* const mask = params.args.masks[m];
      const bool fills = params.size.fill[m].fills;
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        const int64_t key = min(first + i * stride, params.size.keys - 1);
        const int64_t at = rows[m] + key * params.size.mask[m].column;
        values[m][i] = fills ? static_cast<float>(static_cast<const unsigned char*>(mask)[at])
                             : static_cast<const float*>(mask)[at];
      }
    }
  }

  /// Applies the masks to a score, which is a logarithm of base 2.
  __device__ __forceinline__ float apply(const Params& params, int i, float score) const {
#pragma unroll
    for (int m = 0; m < AttentionSize::kMostMasks; ++m) {
      if (m >= params.size.masks) break;
      const AttentionFill& fill = params.size.fill[m];
      if (!fill.fills) {
        score += in_base_2(values[m][i]);
      } else if ((values[m][i] != 0.0f) == fill.where) {
        score = in_base_2(fill.value);
      }
    }
    return score;
  }
};

}  // namespace

/// kLanes is the number of lanes that share a key; each has a run of its columns.
template <int kLanes, Appends kAppends, class T>
__global__ void __launch_bounds__(32 * kWarps)
    row_attention_kernel(const __grid_constant__ RowParams row_params, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  constexpr int kColumns = kLanes * kRun;
  Shares<kColumns>& of_warps = reinterpret_cast<Shares<kColumns>*>(memory)[0];
  Shares<kColumns>& of_blocks = reinterpret_cast<Shares<kColumns>*>(memory)[1];
  const Params& params = row_params.of;
  const AttentionSize& size = params.size;
  const int parts = row_params.parts;
  const int part = static_cast<int>(blockIdx.x % parts);
  const unsigned place = blockIdx.x / parts;
  const Head head(params, static_cast<uint32_t>(place / params.row_tiles));
  const int64_t row = place % params.row_tiles;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp = thread / 32;
  const int run = lane % kLanes * kRun;
  const bool has_key_run = run < size.depth;
  const bool has_value_run = run < size.width;
  const T* const keys = static_cast<const T*>(params.args.k) + head.offset(size.k) + (has_key_run ? run : 0);
  const T* const values =
      static_cast<const T*>(params.args.v) + head.offset(size.v) + (has_value_run ? run : 0);
  int64_t mask_rows[AttentionSize::kMostMasks] = {};
#pragma unroll
  for (int m = 0; m < AttentionSize::kMostMasks; ++m) {
    if (m < size.masks) mask_rows[m] = head.offset(size.mask[m]) + row * size.mask[m].row;
  }
  T* const y = static_cast<T*>(params.args.y) + head.offset(size.y) + row * size.y.row;
  constexpr int kWarpKeys = 32 / kLanes;
  const int64_t stride = static_cast<int64_t>(parts) * kWarps * kWarpKeys;
  const int64_t own_keys = int64_t{part * kWarps + warp} * kWarpKeys;
  if (parts > 1) ptx::arrive_cluster();
    // The previous kernel writes only a few of the keys, so that others can be prefetched before it ends.
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    const int64_t key = own_keys + lane / kLanes + i * stride;
    if (key >= size.keys) break;
    ptx::prefetch_to_l2(keys + key * size.k.row);
    ptx::prefetch_to_l2(values + key * size.v.row);
  }
  begin_kernel(params.next_waits);
  constexpr bool kTurns = kAppends == Appends::kTurnedRow;
  const AppendedRow& appended = row_params.appended;
  const int key_run = has_key_run ? run : 0;
  T k[kAhead][kRun];
  T v[kAhead][kRun];
  Masks masks;
  const auto load_keys = [&](int64_t first) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      // Past the end, the last key is read again and ignored.
      const int64_t key = min(first + i * stride, size.keys - 1);
      load<kRun>(keys + key * size.k.row, k[i]);
      load<kRun>(values + key * size.v.row, v[i]);
    }
    masks.load(params, mask_rows, first, stride);
  };
  load_keys(own_keys + lane / kLanes);
  RowRun<kTurns, T> query;
  query.load_from(static_cast<const T*>(params.args.q) + head.offset(size.q) + row * size.q.row,
                  appended.q_rotation, key_run, size.depth);
  Fresh<kTurns, T> fresh;
  if constexpr (kAppends != Appends::kNothing) {
    fresh.load_from(appended, head, size, key_run, has_value_run ? run : 0);
    if (fresh.place < 0) fresh.place += size.keys;
    fresh.key.turn(key_run, size.depth);
  }
  query.turn(key_run, size.depth);
  float q[kRun];
#pragma unroll
  for (int c = 0; c < kRun; ++c) q[c] = to_float(query.own[c]);
  const float scale = size.scale * kLog2E;

  Weighed own;
  // All lanes of a warp run the same number of iterations.
  for (int64_t begin = own_keys; begin < size.keys; begin += kAhead * stride) {
    const int64_t first = begin + lane / kLanes;
    if (begin != own_keys) load_keys(first);
    if constexpr (kAppends != Appends::kNothing) {
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (first + i * stride == fresh.place) fresh.put(k[i], v[i]);
      }
    }
    float scores[kAhead];
    float top = own.found.largest;
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      float product = 0.0f;
#pragma unroll
      for (int c = 0; c < kRun; ++c) product = fmaf(q[c], to_float(k[i][c]), product);
      product = has_key_run ? product : 0.0f;
#pragma unroll
      for (int distance = 1; distance < kLanes; distance *= 2)
        product += __shfl_xor_sync(0xffffffffu, product, distance);
      const bool is_there = first + i * stride < size.keys;
      scores[i] = is_there ? masks.apply(params, i, product * scale) : -INFINITY;
      top = fmaxf(top, scores[i]);
    }
    const float factor = factor_to(own.found.largest, top);
    const float shift = top == -INFINITY ? 0.0f : top;
    own.found.largest = top;
    own.found.sum *= factor;
#pragma unroll
    for (int c = 0; c < kRun; ++c) own.values[c] *= factor;
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      // A missing or hidden key is skipped, since its values may be NaN.
      if (scores[i] == -INFINITY) continue;
      const float weight = ptx::power_of_two(scores[i] - shift);
      own.found.sum += weight;
#pragma unroll
      for (int c = 0; c < kRun; ++c) own.values[c] = fmaf(weight, to_float(v[i][c]), own.values[c]);
    }
  }

#pragma unroll
  for (int distance = kLanes; distance < 32; distance *= 2) {
    Weighed other;
    other.found.largest = __shfl_xor_sync(0xffffffffu, own.found.largest, distance);
    other.found.sum = __shfl_xor_sync(0xffffffffu, own.found.sum, distance);
#pragma unroll
    for (int c = 0; c < kRun; ++c) other.values[c] = __shfl_xor_sync(0xffffffffu, own.values[c], distance);
    own.join(other);
  }
  if constexpr (kAppends != Appends::kNothing) {
    // Other blocks may read that row of the caches at the same time, but they do not use it.
    const int64_t of_part = fresh.place / (kWarpKeys * kWarps) % parts;
    const bool is_mine = of_part == part && fresh.place / kWarpKeys % kWarps == warp &&
                         fresh.place % kWarpKeys == lane / kLanes && is_first_of_its_keys(size, head);
    if (is_mine && fresh.place >= 0 && fresh.place < size.keys) {
      if (has_key_run)
        store<kRun>(static_cast<T*>(appended.k_cache) + head.offset(size.k) + fresh.place * size.k.row + run,
                    fresh.key.own);
      if (has_value_run)
        store<kRun>(static_cast<T*>(appended.v_cache) + head.offset(size.v) + fresh.place * size.v.row + run,
                    fresh.value);
    }
  }
  if (lane < kLanes) {
    store<kRun>(of_warps.values[warp] + run, own.values);
    if (lane == 0) of_warps.found[warp] = own.found;
  }
  __syncthreads();
  float value = 0.0f;
  Found all;
  if (thread < kColumns) all = of_warps.join(kWarps, thread, value);
  if (parts > 1) {
    ptx::wait_cluster();  // the first block has started, so that its shared memory exists
    if (thread < kColumns) {
      const auto send = [](const float& to, float sent) {
        ptx::store_remote(ptx::address_in_block(ptx::shared_address(&to), 0), sent);
      };
      send(of_blocks.values[part][thread], value);
      if (thread == 0) {
        send(of_blocks.found[part].largest, all.largest);
        send(of_blocks.found[part].sum, all.sum);
      }
    }
    ptx::sync_cluster();
    if (part != 0) return;
    if (thread < kColumns) all = of_blocks.join(parts, thread, value);
  }
  if (thread >= size.width) return;
  const bool zero = size.guarded && !(all.sum > 0.0f);
  y[thread] = from_float<T>(zero ? 0.0f : value / all.sum);
}

namespace {

template <int kLanes, Appends kAppends, class T>
GemmLaunch launch_of() {
  GemmLaunch launch;
  launch.function = kernel_address(&row_attention_kernel<kLanes, kAppends, T>);
  launch.threads = 32 * kWarps;
  launch.shared_bytes = 2 * sizeof(Shares<kLanes * kRun>);
  return launch;
}

template <Appends kAppends, class T>
GemmLaunch launch_for(int lanes) {
  if (lanes <= 4) return launch_of<4, kAppends, T>();
  return lanes <= 8 ? launch_of<8, kAppends, T>() : launch_of<16, kAppends, T>();
}

/// `row` is ignored if nothing is appended.
template <Appends kAppends>
cudaError_t launch_rows(const AttentionArgs& args, const AppendedRow& row, FloatType type,
                        const AttentionSize& size, int blocks, const LaunchOptions& options) {
  if (row_attention_refusal(size, *options.device) || type == FloatType::kFloat) return cudaErrorInvalidValue;
  if (blocks < 1 || blocks > (options.device->clusters ? kMostParts : 1)) return cudaErrorInvalidValue;
  if (size.rows == 0 || size.heads() == 0) return cudaSuccess;
  if (!are_aligned(args, size)) return cudaErrorMisalignedAddress;
  const RowParams params{make_params(args, size, static_cast<int>(size.rows), true, options.next_waits),
                         blocks, row};
  const int lanes = (std::max(size.depth, size.width) + kRun - 1) / kRun;
  GemmLaunch launch = type == FloatType::kHalf ? launch_for<kAppends, __half>(lanes)
                                               : launch_for<kAppends, __nv_bfloat16>(lanes);
  launch.blocks = size.rows * size.heads() * blocks;
  launch.cluster = blocks;
  return launch_gemm(launch, &params, options);
}

bool begins_at_16_bytes(const void* pointer, const AttentionMatrix& matrix) {
  const bool even = std::all_of(std::begin(matrix.loops), std::end(matrix.loops),
                                [](int64_t stride) { return stride % kRun == 0; });
  return is_aligned(pointer) && matrix.offset % kRun == 0 && even;
}

}  // namespace

cudaError_t row_attention(const AttentionArgs& args, FloatType type, const AttentionSize& size, int blocks,
                          const LaunchOptions& options) {
  return launch_rows<Appends::kNothing>(args, {}, type, size, blocks, options);
}

cudaError_t appending_row_attention(const AttentionArgs& args, const AppendedRow& row, FloatType type,
                                    const AttentionSize& size, int blocks, const LaunchOptions& options) {
  if (size.rows != 1 || row.k_cache != args.k || row.v_cache != args.v) return cudaErrorInvalidValue;
  if (!begins_at_16_bytes(row.k, row.k_heads) || !begins_at_16_bytes(row.v, row.v_heads))
    return cudaErrorMisalignedAddress;
  if (row.q_rotation.cosines == nullptr && row.k_rotation.cosines == nullptr)
    return launch_rows<Appends::kRow>(args, row, type, size, blocks, options);
  for (const RowRotation& rotation : {row.q_rotation, row.k_rotation}) {
    if (rotation.cosines == nullptr || size.depth % (2 * kRun) != 0) return cudaErrorInvalidValue;
    if (!is_aligned(rotation.cosines) || !is_aligned(rotation.sines)) return cudaErrorMisalignedAddress;
  }
  return launch_rows<Appends::kTurnedRow>(args, row, type, size, blocks, options);
}

}  // namespace hone::device::cuda
