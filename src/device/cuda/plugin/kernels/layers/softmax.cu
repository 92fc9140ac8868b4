// See normalization.hpp. This file has the softmax.
#include "device/cuda/plugin/kernels/common/ceil_divide.hpp"
#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/reduce.cuh"
#include "device/cuda/plugin/kernels/layers/normalization.hpp"

namespace hone::device::cuda {
namespace {

/// The largest value and the sum of exponentials relative to it.
struct Normalizer {
  float maximum;
  float sum;
};

template <class T>
__device__ __forceinline__ Normalizer scan(const T* row, int64_t first, int64_t count, int64_t step,
                                           int64_t stride) {
  Normalizer result{-INFINITY, 0.0f};
  for (int64_t i = first; i < count; i += step) {
    const float x = to_float(row[i * stride]);
    result.maximum = Maximum()(result.maximum, x);
  }
  for (int64_t i = first; i < count; i += step)
    result.sum += expf(to_float(row[i * stride]) - result.maximum);
  return result;
}

__device__ __forceinline__ float finish(float x, const Normalizer& total, bool logarithm) {
  const float shifted = x - total.maximum;
  // The sum is at least 1; the exact division is a subroutine that costs registers.
  return logarithm ? shifted - logf(total.sum) : __fdividef(expf(shifted), total.sum);
}

/// One block for each row of contiguous elements (inner == 1).
template <class T, class Result>
__global__ void __launch_bounds__(kThreads) row_kernel(const T* input, Result* output, bool logarithm,
                                                       int64_t rows, int64_t columns, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  __shared__ float maxima[kThreads / 32];
  __shared__ float sums[kThreads / 32];
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* from = input + row * columns;
    Normalizer own = scan(from, threadIdx.x, columns, blockDim.x, 1);
    const float maximum = reduce_block(own.maximum, maxima, Maximum());
    own.sum = own.maximum == -INFINITY ? 0.0f : own.sum * expf(own.maximum - maximum);
    const Normalizer total{maximum, reduce_block(own.sum, sums, Plus())};
    for (int64_t i = threadIdx.x; i < columns; i += blockDim.x)
      output[row * columns + i] = from_float<Result>(finish(to_float(from[i]), total, logarithm));
    __syncthreads();
  }
}

/// One thread for each column, whose values are `inner` apart; adjacent threads read adjacent elements.
template <class T, class Result>
__global__ void __launch_bounds__(kThreads, 4)
    column_kernel(const T* input, Result* output, bool logarithm, int64_t outer, int64_t axis, int64_t inner,
                  KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  for (int64_t i = thread_index(); i < outer * inner; i += grid_threads()) {
    const int64_t first = i / inner * axis * inner + i % inner;
    const Normalizer total = scan(input + first, 0, axis, 1, inner);
    for (int64_t k = 0; k < axis; ++k) {
      output[first + k * inner] =
          from_float<Result>(finish(to_float(input[first + k * inner]), total, logarithm));
    }
  }
}

/// Threads of a block that share a run of adjacent columns.
constexpr int kSharing = 512;
constexpr int kMostAcross = 32;

/// Combines the values of all threads of a block that have the same column.
template <class Combine>
__device__ __forceinline__ float reduce_lines(float value, float* scratch, int across,
                                              const Combine& combine) {
  const int thread = static_cast<int>(threadIdx.x);
  __syncthreads();
  scratch[thread] = value;
  for (int half = kSharing / 2; half >= across; half /= 2) {
    __syncthreads();
    if (thread < half) scratch[thread] = combine(scratch[thread], scratch[thread + half]);
  }
  __syncthreads();
  return scratch[thread % across];
}

/// One block for `across` columns, a power of two; for few long columns.
template <class T, class Result>
__global__ void __launch_bounds__(kSharing)
    shared_column_kernel(const T* input, Result* output, bool logarithm, int64_t outer, int64_t axis,
                         int64_t inner, int across, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  __shared__ float scratch[kSharing];
  const int lane = static_cast<int>(threadIdx.x) % across;
  const int line = static_cast<int>(threadIdx.x) / across;
  const int lines = kSharing / across;
  const int64_t runs = (inner + across - 1) / across;
  for (int64_t unit = blockIdx.x; unit < outer * runs; unit += gridDim.x) {
    const int64_t column = unit % runs * across + lane;
    const int64_t first = unit / runs * axis * inner + column;
    const int64_t length = column < inner ? axis : 0;
    Normalizer own = scan(input + first, line, length, lines, inner);
    const float maximum = reduce_lines(own.maximum, scratch, across, Maximum());
    own.sum = own.maximum == -INFINITY ? 0.0f : own.sum * expf(own.maximum - maximum);
    const Normalizer total{maximum, reduce_lines(own.sum, scratch, across, Plus())};
    for (int64_t i = line; i < length; i += lines)
      output[first + i * inner] =
          from_float<Result>(finish(to_float(input[first + i * inner]), total, logarithm));
  }
}

/// True if one thread for each column would leave most of the device idle.
bool shares_columns(int64_t columns, int64_t axis) {
  constexpr int64_t kFewColumns = 16384;
  constexpr int64_t kLong = 32;
  return columns < kFewColumns && axis >= kLong;
}

}  // namespace

cudaError_t softmax(const void* input, FloatType type, void* output, FloatType output_type, bool logarithm,
                    int64_t outer, int64_t axis, int64_t inner, const LaunchOptions& options) {
  return with_float_type(type, [&]<class T>() {
    return with_float_type(output_type, [&]<class Result>() {
      const auto* from = static_cast<const T*>(input);
      auto* to = static_cast<Result*>(output);
      if (outer * axis * inner == 0) return cudaSuccess;
      if (inner == 1) {
        return launch(row_kernel<T, Result>, grid_for(outer, 1), axis <= 128 ? 32 : kThreads, options, from,
                      to, logarithm, outer, axis);
      }
      if (shares_columns(outer * inner, axis)) {
        int across = 1;
        while (across < inner && across < kMostAcross) across *= 2;
        return launch(shared_column_kernel<T, Result>, grid_for(outer * ceil_divide(inner, across), 1),
                      kSharing, options, from, to, logarithm, outer, axis, inner, across);
      }
      return launch(column_kernel<T, Result>, grid_for(outer * inner), kThreads, options, from, to, logarithm,
                    outer, axis, inner);
    });
  });
}

}  // namespace hone::device::cuda
