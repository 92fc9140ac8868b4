// See attention.hpp: for few rows, as a decoder's token has. A block has one row of one head. Its warps share
// the keys: some neighbouring lanes read one key and its value in runs of 16 bytes, and have a softmax of
// their own, which are joined at the end.
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/layers/attention_parts.cuh"

namespace hone::device::cuda {

using namespace attention_parts;

namespace {

constexpr int kMostWarps = 32;
/// Keys that lanes have asked for before they use any of them.
constexpr int kAhead = 4;

/// The largest score so far, the sum of exponentials relative to it, and what they weigh of the values in a
/// lane's columns.
struct Weighed {
  float largest = -INFINITY;
  float sum = 0.0f;
  float values[kRun] = {};

  /// Of scores relative to another one; nothing was above minus infinity where that is.
  __device__ __forceinline__ float factor_to(float top) const {
    return ptx::power_of_two(largest - (top == -INFINITY ? 0.0f : top));
  }

  __device__ __forceinline__ void join(const Weighed& other) {
    const float top = fmaxf(largest, other.largest);
    const float own = factor_to(top);
    const float others = other.factor_to(top);
    sum = sum * own + other.sum * others;
#pragma unroll
    for (int i = 0; i < kRun; ++i) values[i] = values[i] * own + other.values[i] * others;
    largest = top;
  }
};

/// A score, which is a logarithm of base 2, with what masks do to it.
__device__ __forceinline__ float masked(const Params& params,
                                        const int64_t (&rows)[AttentionSize::kMostMasks], int64_t key,
                                        float score) {
#pragma unroll
  for (int m = 0; m < AttentionSize::kMostMasks; ++m) {
    if (m >= params.size.masks) break;
    const int64_t at = rows[m] + key * params.size.mask[m].column;
    const AttentionFill fill = params.size.fill[m];
    if (!fill.fills) {
      score += in_base_2(static_cast<const float*>(params.args.masks[m])[at]);
    } else if ((static_cast<const unsigned char*>(params.args.masks[m])[at] != 0) == fill.where) {
      score = in_base_2(fill.value);
    }
  }
  return score;
}

}  // namespace

/// kLanes: lanes that share a key, each with a run of its columns.
template <int kLanes, class T>
__global__ void __launch_bounds__(32 * kMostWarps)
    row_attention_kernel(const __grid_constant__ Params params, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  const AttentionSize& size = params.size;
  const Head head(size, blockIdx.x / params.row_tiles);
  const int64_t row = blockIdx.x % params.row_tiles;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int column = lane % kLanes * kRun;
  const bool has_key_run = column < size.depth;
  const bool has_value_run = column < size.width;
  const T* const keys =
      static_cast<const T*>(params.args.k) + head.offset(size.k) + (has_key_run ? column : 0);
  const T* const values =
      static_cast<const T*>(params.args.v) + head.offset(size.v) + (has_value_run ? column : 0);
  int64_t masks[AttentionSize::kMostMasks] = {};
#pragma unroll
  for (int m = 0; m < AttentionSize::kMostMasks; ++m) {
    if (m < size.masks) masks[m] = head.offset(size.mask[m]) + row * size.mask[m].row;
  }
  begin_kernel(params.next_waits);
  float q[kRun] = {};
  if (has_key_run)
    load_floats<kRun>(static_cast<const T*>(params.args.q) + head.offset(size.q) + row * size.q.row + column,
                      q);
  const float scale = size.scale * kLog2E;

  Weighed found;
  const int64_t stride = static_cast<int64_t>(warps) * (32 / kLanes);
  // All lanes of a warp take as many turns.
  for (int64_t begin = warp * (32 / kLanes); begin < size.keys; begin += kAhead * stride) {
    const int64_t first = begin + lane / kLanes;
    float k[kAhead][kRun];
    float v[kAhead][kRun];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      // Of keys that there are not the last one, which counts for nothing.
      const int64_t key = min(first + i * stride, size.keys - 1);
      load_floats<kRun>(keys + key * size.k.row, k[i]);
      load_floats<kRun>(values + key * size.v.row, v[i]);
    }
    float scores[kAhead];
    float top = found.largest;
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      float product = 0.0f;
#pragma unroll
      for (int c = 0; c < kRun; ++c) product = has_key_run ? fmaf(q[c], k[i][c], product) : 0.0f;
#pragma unroll
      for (int distance = 1; distance < kLanes; distance *= 2)
        product += __shfl_xor_sync(0xffffffffu, product, distance);
      const int64_t key = first + i * stride;
      scores[i] = key < size.keys ? masked(params, masks, key, product * scale) : -INFINITY;
      top = fmaxf(top, scores[i]);
    }
    const float factor = found.factor_to(top);
    const float shift = top == -INFINITY ? 0.0f : top;
    found.largest = top;
    found.sum *= factor;
#pragma unroll
    for (int c = 0; c < kRun; ++c) found.values[c] *= factor;
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      // What is not there, or hidden, is not multiplied: its values may be no numbers.
      if (scores[i] == -INFINITY) continue;
      const float weight = ptx::power_of_two(scores[i] - shift);
      found.sum += weight;
#pragma unroll
      for (int c = 0; c < kRun; ++c) found.values[c] = fmaf(weight, v[i][c], found.values[c]);
    }
  }

#pragma unroll
  for (int distance = kLanes; distance < 32; distance *= 2) {
    Weighed other;
    other.largest = __shfl_xor_sync(0xffffffffu, found.largest, distance);
    other.sum = __shfl_xor_sync(0xffffffffu, found.sum, distance);
#pragma unroll
    for (int c = 0; c < kRun; ++c) other.values[c] = __shfl_xor_sync(0xffffffffu, found.values[c], distance);
    found.join(other);
  }
  Weighed* const of_warps = reinterpret_cast<Weighed*>(memory);
  if (lane < kLanes) of_warps[warp * kLanes + lane] = found;
  __syncthreads();
  if (threadIdx.x >= kLanes) return;
  found = of_warps[lane];
  for (int other = 1; other < warps; ++other) found.join(of_warps[other * kLanes + lane]);
  if (!has_value_run) return;
  const bool zero = size.guarded && !(found.sum > 0.0f);
#pragma unroll
  for (int c = 0; c < kRun; ++c) found.values[c] = zero ? 0.0f : found.values[c] / found.sum;
  store_floats<kRun>(static_cast<T*>(params.args.y) + head.offset(size.y) + row * size.y.row + column,
                     found.values);
}

namespace {

template <class T>
const void* kernel_for(int lanes) {
  if (lanes <= 4) return kernel_address(&row_attention_kernel<4, T>);
  return lanes <= 8 ? kernel_address(&row_attention_kernel<8, T>)
                    : kernel_address(&row_attention_kernel<16, T>);
}

}  // namespace

cudaError_t row_attention(const AttentionArgs& args, FloatType type, const AttentionSize& size, int warps,
                          const LaunchOptions& options) {
  if (row_attention_refusal(size, *options.device) || type == FloatType::kFloat) return cudaErrorInvalidValue;
  if (warps < 1 || warps > kMostWarps) return cudaErrorInvalidValue;
  if (size.rows == 0 || size.heads() == 0) return cudaSuccess;
  if (!are_aligned(args, size)) return cudaErrorMisalignedAddress;
  const Params params{args, size, static_cast<int>(size.rows), true, options.next_waits};
  const int lanes = (std::max(size.depth, size.width) + kRun - 1) / kRun;
  GemmLaunch launch;
  launch.function = type == FloatType::kHalf ? kernel_for<__half>(lanes) : kernel_for<__nv_bfloat16>(lanes);
  launch.blocks = size.rows * size.heads();
  launch.threads = 32 * warps;
  launch.shared_bytes = static_cast<int64_t>(warps) * 16 * sizeof(Weighed);
  return launch_gemm(launch, &params, options);
}

}  // namespace hone::device::cuda
