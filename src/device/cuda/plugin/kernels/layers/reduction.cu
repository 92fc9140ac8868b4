// See reduction.hpp.
#include "device/cuda/plugin/kernels/layers/reduction.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/reduce.cuh"

namespace hone::device::cuda {
namespace {

struct Minimum {
  __device__ __forceinline__ float operator()(float a, float b) const { return b < a || b != b ? b : a; }
};
struct Times {
  __device__ __forceinline__ float operator()(float a, float b) const { return a * b; }
};

__device__ __forceinline__ float prepare(ReductionKind kind, float x, float maximum) {
  switch (kind) {
    case ReductionKind::kL1: return fabsf(x);
    case ReductionKind::kL2:
    case ReductionKind::kSumSquare: return x * x;
    case ReductionKind::kLogSumExp: return expf(x - maximum);
    default: return x;
  }
}

__device__ __forceinline__ float finish(ReductionKind kind, float x, float maximum, int64_t count) {
  switch (kind) {
    case ReductionKind::kMean: return __fdividef(x, static_cast<float>(count));
    case ReductionKind::kL2: return sqrtf(x);
    case ReductionKind::kLogSum: return logf(x);
    case ReductionKind::kLogSumExp: return logf(x) + maximum;
    default: return x;
  }
}

/// Always finite, so that subtracting it from an infinite value does not give NaN.
__device__ __forceinline__ float shift_of(float maximum) {
  return fabsf(maximum) == INFINITY ? 0.0f : maximum;
}

/// One warp for each output, for reductions over contiguous elements (inner == 1).
template <class T, class Combine>
__global__ void __launch_bounds__(kThreads)
    row_kernel(const T* input, T* output, ReductionKind kind, float identity, int64_t outer, int64_t axis,
               KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const int64_t lane = threadIdx.x % 32;
  for (int64_t row = thread_index() / 32; row < outer; row += grid_threads() / 32) {
    const T* from = input + row * axis;
    float maximum = 0.0f;
    if (kind == ReductionKind::kLogSumExp) {
      maximum = -INFINITY;
      for (int64_t i = lane; i < axis; i += 32) maximum = Maximum()(maximum, to_float(from[i]));
      maximum = shift_of(reduce_warp(maximum, Maximum()));
    }
    float result = identity;
    for (int64_t i = lane; i < axis; i += 32)
      result = Combine()(result, prepare(kind, to_float(from[i]), maximum));
    result = reduce_warp(result, Combine());
    if (lane == 0) output[row] = from_float<T>(finish(kind, result, maximum, axis));
  }
}

/// One thread for each output; adjacent threads read adjacent elements.
template <class T, class Combine>
__global__ void __launch_bounds__(kThreads)
    column_kernel(const T* input, T* output, ReductionKind kind, float identity, int64_t outer, int64_t axis,
                  int64_t inner, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  for (int64_t i = thread_index(); i < outer * inner; i += grid_threads()) {
    const T* from = input + i / inner * axis * inner + i % inner;
    float maximum = 0.0f;
    if (kind == ReductionKind::kLogSumExp) {
      maximum = -INFINITY;
      for (int64_t k = 0; k < axis; ++k) maximum = Maximum()(maximum, to_float(from[k * inner]));
      maximum = shift_of(maximum);
    }
    float result = identity;
    for (int64_t k = 0; k < axis; ++k)
      result = Combine()(result, prepare(kind, to_float(from[k * inner]), maximum));
    output[i] = from_float<T>(finish(kind, result, maximum, axis));
  }
}

struct Candidate {
  float value;
  int64_t index;
};

/// True if b replaces a as the extreme value.
__device__ __forceinline__ bool wins(const Candidate& b, const Candidate& a, bool largest, bool last) {
  if (a.index < 0 || b.index < 0) return a.index < 0;
  const bool equal = b.value == a.value || (b.value != b.value && a.value != a.value);
  if (equal) return last ? b.index > a.index : b.index < a.index;
  if (a.value != a.value) return false;
  return b.value != b.value || (largest ? b.value > a.value : b.value < a.value);
}

/// One warp for each output.
template <class T>
__global__ void __launch_bounds__(kThreads)
    arg_kernel(const T* input, int64_t* output, bool largest, bool last, int64_t outer, int64_t axis,
               int64_t inner, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const int64_t lane = threadIdx.x % 32;
  for (int64_t i = thread_index() / 32; i < outer * inner; i += grid_threads() / 32) {
    const T* from = input + i / inner * axis * inner + i % inner;
    Candidate best{0.0f, -1};
    for (int64_t k = lane; k < axis; k += 32) {
      const Candidate next{to_float(from[k * inner]), k};
      if (wins(next, best, largest, last)) best = next;
    }
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) {
      const Candidate other{__shfl_xor_sync(~0u, best.value, mask), __shfl_xor_sync(~0u, best.index, mask)};
      if (wins(other, best, largest, last)) best = other;
    }
    if (lane == 0) output[i] = best.index;
  }
}

template <class T, class Combine>
cudaError_t launch_reduction(const void* input, void* output, ReductionKind kind, float identity,
                             int64_t outer, int64_t axis, int64_t inner, const LaunchOptions& options) {
  const auto* from = static_cast<const T*>(input);
  auto* to = static_cast<T*>(output);
  if (inner == 1) {
    return launch(row_kernel<T, Combine>, grid_for(outer, kThreads / 32), kThreads, options, from, to, kind,
                  identity, outer, axis);
  }
  return launch(column_kernel<T, Combine>, grid_for(outer * inner), kThreads, options, from, to, kind,
                identity, outer, axis, inner);
}

}  // namespace

cudaError_t reduce(const void* input, void* output, FloatType type, ReductionKind kind, int64_t outer,
                   int64_t axis, int64_t inner, const LaunchOptions& options) {
  return with_float_type(type, [&]<class T>() {
    switch (kind) {
      case ReductionKind::kMaximum:
        return launch_reduction<T, Maximum>(input, output, kind, -INFINITY, outer, axis, inner, options);
      case ReductionKind::kMinimum:
        return launch_reduction<T, Minimum>(input, output, kind, INFINITY, outer, axis, inner, options);
      case ReductionKind::kProduct:
        return launch_reduction<T, Times>(input, output, kind, 1.0f, outer, axis, inner, options);
      default: return launch_reduction<T, Plus>(input, output, kind, 0.0f, outer, axis, inner, options);
    }
  });
}

cudaError_t arg_extreme(const void* input, int64_t* output, FloatType type, bool largest, bool last,
                        int64_t outer, int64_t axis, int64_t inner, const LaunchOptions& options) {
  return with_float_type(type, [&]<class T>() {
    return launch(arg_kernel<T>, grid_for(outer * inner, kThreads / 32), kThreads, options,
                  static_cast<const T*>(input), output, largest, last, outer, axis, inner);
  });
}

}  // namespace hone::device::cuda
