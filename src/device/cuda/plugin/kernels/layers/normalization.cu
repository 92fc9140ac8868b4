// See normalization.hpp: layer, group and local response normalization.
#include "device/cuda/plugin/kernels/layers/normalization.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/epilogue.cuh"
#include "device/cuda/plugin/kernels/common/reduce.cuh"

namespace hone::device::cuda {
namespace {

/// A set of elements that share statistics: element i lies at (i / run) * stride + i % run.
struct Members {
  int64_t count;
  int64_t run;
  int64_t stride;
  __device__ __forceinline__ int64_t position(int64_t i) const { return i / run * stride + i % run; }
};

struct Statistics {
  float mean;
  float scale;  ///< 1 / sqrt(variance + epsilon)
};

/// Two passes: the variance from sums of squares would cancel.
template <class T>
__device__ __forceinline__ Statistics statistics(const T* from, const Members& members, float epsilon,
                                                 float* scratch) {
  float sum = 0.0f;
  for (int64_t i = threadIdx.x; i < members.count; i += blockDim.x)
    sum += to_float(from[members.position(i)]);
  const auto count = static_cast<float>(members.count);
  const float mean = reduce_block(sum, scratch, Plus()) / count;
  float squares = 0.0f;
  for (int64_t i = threadIdx.x; i < members.count; i += blockDim.x) {
    const float difference = to_float(from[members.position(i)]) - mean;
    squares = fmaf(difference, difference, squares);
  }
  return {mean, 1.0f / sqrtf(reduce_block(squares, scratch, Plus()) / count + epsilon)};
}

/// One block per set. The parameter of element i is number first + (i / period) % parameters.
template <class T>
__global__ void __launch_bounds__(kThreads)
    normalize_kernel(const T* input, T* output, const float* scale, const float* bias, float epsilon,
                     Members members, int64_t sets, int64_t sets_per_image, int64_t image_stride,
                     int64_t set_stride, int64_t period, int64_t parameters,
                     const __grid_constant__ Epilogue activations, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  __shared__ float scratch[kThreads / 32];
  for (int64_t set = blockIdx.x; set < sets; set += gridDim.x) {
    const int64_t begin = set / sets_per_image * image_stride + set % sets_per_image * set_stride;
    const Statistics found = statistics(input + begin, members, epsilon, scratch);
    const int64_t first = set % sets_per_image * parameters;
    for (int64_t i = threadIdx.x; i < members.count; i += blockDim.x) {
      const int64_t at = begin + members.position(i);
      const int64_t parameter = first + i / period % parameters;
      float x[1] = {(to_float(input[at]) - found.mean) * found.scale};
      if (scale != nullptr) x[0] *= scale[parameter];
      if (bias != nullptr) x[0] += bias[parameter];
      apply_epilogue<T>(activations, x, 0, 0, 0);
      output[at] = from_float<T>(x[0]);
    }
    __syncthreads();
  }
}

/// Warps of a block that normalises rows, each a row, where there are rows enough for all multiprocessors.
constexpr int kRowWarps = 4;
constexpr int kMostRuns = 8;
/// Elements that a lane reads at once.
template <class T>
constexpr int kRunOf = 16 / static_cast<int>(sizeof(T));

/// One warp per row, whose elements stay in its registers: kRuns runs a lane.
template <class T, int kRuns>
__global__ void __launch_bounds__(32 * kRowWarps)
    normalize_row_kernel(const T* input, T* output, const float* scale, const float* bias, float epsilon,
                         int64_t rows, int columns, bool next_waits, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel(next_waits);
  constexpr int kRun = kRunOf<T>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  const T* const from = input + row * columns;
  float x[kRuns][kRun] = {};
  float sum = 0.0f;
#pragma unroll
  for (int r = 0; r < kRuns; ++r) {
    const int column = (r * 32 + lane) * kRun;
    if (column >= columns) continue;
    load_floats<kRun>(from + column, x[r]);
#pragma unroll
    for (int i = 0; i < kRun; ++i) sum += x[r][i];
  }
  const float mean = reduce_warp(sum, Plus()) / static_cast<float>(columns);
  float squares = 0.0f;
#pragma unroll
  for (int r = 0; r < kRuns; ++r) {
    if ((r * 32 + lane) * kRun >= columns) continue;
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      x[r][i] -= mean;
      squares = fmaf(x[r][i], x[r][i], squares);
    }
  }
  const float factor = 1.0f / sqrtf(reduce_warp(squares, Plus()) / static_cast<float>(columns) + epsilon);
  T* const to = output + row * columns;
#pragma unroll
  for (int r = 0; r < kRuns; ++r) {
    const int column = (r * 32 + lane) * kRun;
    if (column >= columns) continue;
    float scales[kRun];
    float shifts[kRun] = {};
#pragma unroll
    for (int i = 0; i < kRun; ++i) scales[i] = 1.0f;
    if (scale != nullptr) load_floats<kRun>(scale + column, scales);
    if (bias != nullptr) load_floats<kRun>(bias + column, shifts);
#pragma unroll
    for (int i = 0; i < kRun; ++i) x[r][i] = fmaf(x[r][i] * factor, scales[i], shifts[i]);
    store_floats<kRun>(to + column, x[r]);
  }
}

/// The kernel of as many runs a lane as the columns need, nullptr where no kernel has as many.
template <class T, int kRuns = 1>
auto row_kernel_for(int64_t columns) -> decltype(&normalize_row_kernel<T, 1>) {
  if (columns <= int64_t{32} * kRunOf<T> * kRuns) return normalize_row_kernel<T, kRuns>;
  if constexpr (kRuns < kMostRuns) {
    return row_kernel_for<T, kRuns + 1>(columns);
  } else {
    return nullptr;
  }
}

bool begins_runs(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % 16 == 0; }

template <class T>
__global__ void __launch_bounds__(kThreads)
    response_kernel(const T* input, T* output, int64_t size, float alpha, float beta, float bias,
                    int64_t count, int64_t channels, int64_t stride, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const int64_t before = (size - 1) / 2;
  for (int64_t i = thread_index(); i < count; i += grid_threads()) {
    const int64_t c = i / stride % channels;
    const int64_t begin = max(c - before, int64_t{0});
    const int64_t end = min(c - before + size, channels);
    float sum = 0.0f;
    for (int64_t k = begin; k < end; ++k) {
      const float x = to_float(input[i + (k - c) * stride]);
      sum = fmaf(x, x, sum);
    }
    output[i] = from_float<T>(to_float(input[i]) / powf(bias + alpha / static_cast<float>(size) * sum, beta));
  }
}

int block_for(int64_t count) { return count <= 128 ? 32 : kThreads; }

}  // namespace

cudaError_t layer_normalization(const void* input, void* output, FloatType type, const float* scale,
                                const float* bias, float epsilon, int64_t rows, int64_t columns,
                                const LaunchOptions& options) {
  if (rows * columns == 0) return cudaSuccess;
  return with_float_type(type, [&]<class T>() {
    const auto row_kernel = row_kernel_for<T>(columns);
    if (row_kernel != nullptr && columns % kRunOf<T> == 0 && begins_runs(input) && begins_runs(output) &&
        begins_runs(scale) && begins_runs(bias) && rows < (int64_t{1} << 31)) {
      const int warps = rows < 4096 ? 1 : kRowWarps;
      return launch(row_kernel, grid_for(rows, warps), 32 * warps, options, static_cast<const T*>(input),
                    static_cast<T*>(output), scale, bias, epsilon, rows, static_cast<int>(columns),
                    options.next_waits);
    }
    return launch(normalize_kernel<T>, grid_for(rows, 1), block_for(columns), options,
                  static_cast<const T*>(input), static_cast<T*>(output), scale, bias, epsilon,
                  Members{columns, columns, columns}, rows, int64_t{1}, columns, int64_t{0}, int64_t{1},
                  columns, Epilogue());
  });
}

cudaError_t normalize_groups(const GroupNormalization& norm, const void* input, void* output,
                             const float* scale, const float* bias, const LaunchOptions& options) {
  const int64_t members = norm.channels / norm.groups;
  const bool plain = norm.order == ImageOrder::kPlain;
  const int64_t count = members * norm.pixels;
  return with_float_type(norm.type, [&]<class T>() {
    return launch(normalize_kernel<T>, grid_for(norm.batch * norm.groups, 1), block_for(count), options,
                  static_cast<const T*>(input), static_cast<T*>(output), scale, bias, norm.epsilon,
                  plain ? Members{count, count, count} : Members{count, members, norm.channels},
                  norm.batch * norm.groups, norm.groups, norm.channels * norm.pixels, plain ? count : members,
                  plain ? norm.pixels : int64_t{1}, members, norm.activations);
  });
}

cudaError_t local_response_normalization(const void* input, void* output, FloatType type, ImageOrder order,
                                         int64_t size, float alpha, float beta, float bias, int64_t batch,
                                         int64_t channels, int64_t pixels, const LaunchOptions& options) {
  const int64_t count = batch * channels * pixels;
  return with_float_type(type, [&]<class T>() {
    return launch(response_kernel<T>, grid_for(count), kThreads, options, static_cast<const T*>(input),
                  static_cast<T*>(output), size, alpha, beta, bias, count, channels,
                  order == ImageOrder::kPlain ? pixels : int64_t{1});
  });
}

}  // namespace hone::device::cuda
