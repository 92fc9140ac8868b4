// See normalization.hpp. This file has layer, root mean square, group and local response normalization.
#include "device/cuda/plugin/kernels/layers/normalization.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/epilogue.cuh"
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/reduce.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"

namespace hone::device::cuda {
namespace {

/// A set of elements that share statistics: element i is at (i / run) * stride + i % run.
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

/// Uses two passes, because a variance from sums of squares would suffer from cancellation. If elements are
/// not centered, the mean counts as 0.
template <class T>
__device__ __forceinline__ Statistics statistics(const T* from, const Members& members, bool centers,
                                                 float epsilon, float* scratch) {
  const auto count = static_cast<float>(members.count);
  float mean = 0.0f;
  if (centers) {
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < members.count; i += blockDim.x)
      sum += to_float(from[members.position(i)]);
    mean = reduce_block(sum, scratch, Plus()) / count;
  }
  float squares = 0.0f;
  for (int64_t i = threadIdx.x; i < members.count; i += blockDim.x) {
    const float difference = to_float(from[members.position(i)]) - mean;
    squares = fmaf(difference, difference, squares);
  }
  return {mean, 1.0f / sqrtf(reduce_block(squares, scratch, Plus()) / count + epsilon)};
}

/// One block for each set. Element i uses parameter first + (i / period) % parameters.
template <class T>
__global__ void __launch_bounds__(kThreads)
    normalize_kernel(const T* input, T* output, const float* scale, const float* bias, bool centers,
                     float epsilon, Members members, int64_t sets, int64_t sets_per_image,
                     int64_t image_stride, int64_t set_stride, int64_t period, int64_t parameters,
                     const __grid_constant__ Epilogue activations, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  __shared__ float scratch[kThreads / 32];
  for (int64_t set = blockIdx.x; set < sets; set += gridDim.x) {
    const int64_t begin = set / sets_per_image * image_stride + set % sets_per_image * set_stride;
    const Statistics found = statistics(input + begin, members, centers, epsilon, scratch);
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

/// Rows in a block that has one warp for each row.
constexpr int kBlockRows = 4;
/// The most runs of a row for one lane.
constexpr int kMostRuns = 4;
constexpr int kMostRowWarps = 8;
/// With at least this number of rows, one warp for each fills the multiprocessors. If there are fewer,
/// several warps share a row, so that a lane waits for one load instead of several.
constexpr int64_t kManyRows = 4096;
/// Elements that a lane reads at once.
template <class T>
constexpr int kRunOf = 16 / static_cast<int>(sizeof(T));

struct RowParams {
  const void* input = nullptr;
  void* output = nullptr;
  const float* scale = nullptr;
  const float* bias = nullptr;
  float epsilon = 0;
  int64_t rows = 0;
  int columns = 0;
  bool centers = true;
  bool constants = false;
  bool next_waits = false;
};

/// The sum over a row. `scratch` is for several warps that share the row, and null for a single warp.
__device__ __forceinline__ float sum_of_row(float value, float* scratch) {
  return scratch == nullptr ? reduce_warp(value, Plus()) : reduce_block(value, scratch, Plus());
}

}  // namespace

/// One warp for each row, or a whole block with kShared. The elements stay in registers, kRuns runs in each
/// lane. All loads are issued before the first use.
template <class T, int kRuns, bool kShared>
__global__ void __launch_bounds__(32 * kMostRowWarps)
    normalize_row_kernel(const __grid_constant__ RowParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  constexpr int kRun = kRunOf<T>;
  float* const scratch = kShared ? reinterpret_cast<float*>(memory) : nullptr;
  const int lanes = kShared ? static_cast<int>(blockDim.x) : 32;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int64_t row = kShared ? blockIdx.x : static_cast<int64_t>(blockIdx.x) * kBlockRows + threadIdx.x / 32;
  const auto column = [&](int run) { return (run * lanes + lane) * kRun; };
  float scales[kRuns][kRun];
  float shifts[kRuns][kRun];
  const auto load_parameters = [&] {
#pragma unroll
    for (int r = 0; r < kRuns; ++r) {
      // A lane past the row's end loads the row's beginning, which is not used.
      const int at = column(r) < p.columns ? column(r) : 0;
#pragma unroll
      for (int i = 0; i < kRun; ++i) scales[r][i] = 1.0f;
#pragma unroll
      for (int i = 0; i < kRun; ++i) shifts[r][i] = 0.0f;
      if (p.scale != nullptr) load_floats<kRun>(p.scale + at, scales[r]);
      if (p.bias != nullptr) load_floats<kRun>(p.bias + at, shifts[r]);
    }
  };
  if (p.constants) load_parameters();
  ptx::wait_for_previous_kernel();
  if (row >= p.rows) return;
  const T* const from = static_cast<const T*>(p.input) + row * p.columns;
  float x[kRuns][kRun];
#pragma unroll
  for (int r = 0; r < kRuns; ++r) load_floats<kRun>(from + (column(r) < p.columns ? column(r) : 0), x[r]);
  if (!p.constants) load_parameters();
  float mean = 0.0f;
  if (p.centers) {
    float sum = 0.0f;
#pragma unroll
    for (int r = 0; r < kRuns; ++r) {
#pragma unroll
      for (int i = 0; i < kRun; ++i) sum += column(r) < p.columns ? x[r][i] : 0.0f;
    }
    mean = sum_of_row(sum, scratch) / static_cast<float>(p.columns);
  }
  float squares = 0.0f;
#pragma unroll
  for (int r = 0; r < kRuns; ++r) {
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      x[r][i] -= mean;
      squares = column(r) < p.columns ? fmaf(x[r][i], x[r][i], squares) : squares;
    }
  }
  const float factor = 1.0f / sqrtf(sum_of_row(squares, scratch) / static_cast<float>(p.columns) + p.epsilon);
  T* const to = static_cast<T*>(p.output) + row * p.columns;
#pragma unroll
  for (int r = 0; r < kRuns; ++r) {
    if (column(r) >= p.columns) continue;
#pragma unroll
    for (int i = 0; i < kRun; ++i) x[r][i] = fmaf(x[r][i] * factor, scales[r][i], shifts[r][i]);
    store_floats<kRun>(to + column(r), x[r]);
  }
}

namespace {

/// The kernel with the number of runs for each lane that the columns need; null if there is none.
template <class T, bool kShared, int kRuns = 1>
const void* row_kernel_for(int64_t columns, int64_t lanes) {
  if (columns <= lanes * kRunOf<T> * kRuns) return kernel_address(normalize_row_kernel<T, kRuns, kShared>);
  if constexpr (kRuns < kMostRuns) {
    return row_kernel_for<T, kShared, kRuns + 1>(columns, lanes);
  } else {
    return nullptr;
  }
}

/// The launch for these rows; its function is null if they are too long for registers.
template <class T>
GemmLaunch row_launch(int64_t rows, int64_t columns) {
  GemmLaunch launch;
  const int64_t runs = (columns + kRunOf<T> - 1) / kRunOf<T>;
  if (rows >= kManyRows || runs <= 32) launch.function = row_kernel_for<T, false>(columns, 32);
  if (launch.function != nullptr) {
    launch.blocks = (rows + kBlockRows - 1) / kBlockRows;
    launch.threads = 32 * kBlockRows;
    return launch;
  }
  launch.blocks = rows;
  launch.threads = static_cast<int>(std::min<int64_t>((runs + 31) / 32, kMostRowWarps) * 32);
  launch.function = row_kernel_for<T, true>(columns, launch.threads);
  launch.shared_bytes = kMostRowWarps * sizeof(float);
  return launch;
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

cudaError_t normalize_rows(const void* input, void* output, FloatType type, const float* scale,
                           const float* bias, bool centers, bool constants, float epsilon, int64_t rows,
                           int64_t columns, const LaunchOptions& options) {
  if (rows * columns == 0) return cudaSuccess;
  return with_float_type(type, [&]<class T>() {
    const GemmLaunch of_rows = row_launch<T>(rows, columns);
    if (of_rows.function != nullptr && columns % kRunOf<T> == 0 && begins_runs(input) &&
        begins_runs(output) && begins_runs(scale) && begins_runs(bias) && rows < (int64_t{1} << 31)) {
      const RowParams params{input,
                             output,
                             scale,
                             bias,
                             epsilon,
                             rows,
                             static_cast<int>(columns),
                             centers,
                             constants,
                             options.next_waits};
      return launch_gemm(of_rows, &params, options);
    }
    return launch(normalize_kernel<T>, grid_for(rows, 1), block_for(columns), options,
                  static_cast<const T*>(input), static_cast<T*>(output), scale, bias, centers, epsilon,
                  Members{columns, columns, columns}, rows, int64_t{1}, columns, int64_t{0}, int64_t{1},
                  columns, Epilogue());
  });
}

}  // namespace

cudaError_t layer_normalization(const void* input, void* output, FloatType type, const float* scale,
                                const float* bias, bool constants, float epsilon, int64_t rows,
                                int64_t columns, const LaunchOptions& options) {
  return normalize_rows(input, output, type, scale, bias, true, constants, epsilon, rows, columns, options);
}

cudaError_t rms_normalization(const void* input, void* output, FloatType type, const float* scale,
                              bool constants, float epsilon, int64_t rows, int64_t columns,
                              const LaunchOptions& options) {
  return normalize_rows(input, output, type, scale, nullptr, false, constants, epsilon, rows, columns,
                        options);
}

cudaError_t normalize_groups(const GroupNormalization& norm, const void* input, void* output,
                             const float* scale, const float* bias, const LaunchOptions& options) {
  const int64_t members = norm.channels / norm.groups;
  const bool plain = norm.order == ImageOrder::kPlain;
  const int64_t count = members * norm.pixels;
  return with_float_type(norm.type, [&]<class T>() {
    return launch(normalize_kernel<T>, grid_for(norm.batch * norm.groups, 1), block_for(count), options,
                  static_cast<const T*>(input), static_cast<T*>(output), scale, bias, true, norm.epsilon,
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
