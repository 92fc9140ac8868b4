// See ranking.hpp.
#include "device/cuda/plugin/kernels/layers/ranking.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"

namespace hone::device::cuda {
namespace {

/// True if element j with value b comes before element i with value a.
__device__ __forceinline__ bool comes_before(float b, int64_t j, float a, int64_t i, bool largest) {
  const bool less = b < a || (b == b && a != a);
  const bool greater = a < b || (a == a && b != b);
  return less == greater ? j < i : largest ? greater : less;
}

/// One thread for each element computes its rank.
template <class T>
__global__ void __launch_bounds__(kThreads)
    top_k_kernel(const T* input, T* values, int64_t* indices, bool largest, int64_t count, int64_t axis,
                 int64_t inner, int64_t k, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  for (int64_t at = thread_index(); at < count; at += grid_threads()) {
    // Adjacent threads belong to the same row, whose elements they read together.
    const int64_t row = at / axis;
    const int64_t i = at % axis;
    const T* from = input + row / inner * axis * inner + row % inner;
    const float own = to_float(from[i * inner]);
    int64_t rank = 0;
    for (int64_t j = 0; j < axis && rank < k; ++j)
      rank += comes_before(to_float(from[j * inner]), j, own, i, largest) ? 1 : 0;
    if (rank >= k) continue;
    const int64_t to = (row / inner * k + rank) * inner + row % inner;
    values[to] = from[i * inner];
    indices[to] = i;
  }
}

/// One warp for each row.
template <class T>
__global__ void __launch_bounds__(kThreads)
    cumulative_kernel(const T* input, T* output, bool exclusive, bool reverse, int64_t rows, int64_t axis,
                      int64_t inner, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int64_t row = thread_index() / 32; row < rows; row += grid_threads() / 32) {
    const int64_t first = row / inner * axis * inner + row % inner;
    float before = 0.0f;
    for (int64_t begin = 0; begin < axis; begin += 32) {
      const int64_t step = begin + lane;
      const int64_t at = first + (reverse ? axis - 1 - step : step) * inner;
      const float own = step < axis ? to_float(input[at]) : 0.0f;
      float sum = own;
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        const float other = __shfl_up_sync(~0u, sum, distance);
        if (lane >= distance) sum += other;
      }
      // Subtracting the element from the sum instead would suffer from cancellation.
      const float neighbour = __shfl_up_sync(~0u, sum, 1);
      const float through = exclusive ? (lane == 0 ? 0.0f : neighbour) : sum;
      if (step < axis) output[at] = from_float<T>(before + through);
      before += __shfl_sync(~0u, sum, 31);
    }
  }
}

}  // namespace

cudaError_t top_k(const void* input, void* values, int64_t* indices, FloatType type, bool largest,
                  int64_t outer, int64_t axis, int64_t inner, int64_t k, const LaunchOptions& options) {
  if (k < 0 || k > axis) return cudaErrorInvalidValue;
  const int64_t count = k == 0 ? 0 : outer * axis * inner;
  return with_float_type(type, [&]<class T>() {
    return launch(top_k_kernel<T>, grid_for(count), kThreads, options, static_cast<const T*>(input),
                  static_cast<T*>(values), indices, largest, count, axis, inner, k);
  });
}

cudaError_t cumulative_sum(const void* input, void* output, FloatType type, bool exclusive, bool reverse,
                           int64_t outer, int64_t axis, int64_t inner, const LaunchOptions& options) {
  return with_float_type(type, [&]<class T>() {
    return launch(cumulative_kernel<T>, grid_for(outer * inner, kThreads / 32), kThreads, options,
                  static_cast<const T*>(input), static_cast<T*>(output), exclusive, reverse, outer * inner,
                  axis, inner);
  });
}

}  // namespace hone::device::cuda
