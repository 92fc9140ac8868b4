// See matrix_vector.hpp.
#include "device/cuda/plugin/kernels/gemm/matrix_vector.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/reduce.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_steps.cuh"

namespace hone::device::cuda {
namespace {

constexpr int kWarps = 8;
/// Elements that a lane takes at once.
constexpr int kRun = 8;

struct Operands {
  const void* x;
  const void* w;
  const float* bias;
  void* y;
  int rows;
  int columns;
  int runs;  ///< of kRun elements, in the depth
  float alpha;
  float low;
  float high;
  bool next_waits;
};

/// A lane's runs of a column of w, or of a row of x, 32 apart: 128 bytes on their way at once. Zero beyond
/// the depth.
template <class T>
struct Runs {
  static constexpr int kAhead = 8 / kRunWords<T>;
  static constexpr int kSpan = 32 * kAhead;  ///< of a warp
  uint4 words[kAhead][kRunWords<T>];

  /// `kConstant`: nobody writes them while the kernel runs, nor shortly before.
  template <bool kConstant>
  __device__ __forceinline__ void load(const uint4* from, int first, int count) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int run = first + i * 32;
#pragma unroll
      for (int k = 0; k < kRunWords<T>; ++k) {
        const uint4* const word = from + run * kRunWords<T> + k;
        words[i][k] = run >= count ? make_uint4(0, 0, 0, 0) : kConstant ? __ldg(word) : *word;
      }
    }
  }
};

template <class T>
__device__ __forceinline__ float add_products(const Runs<T>& a, const Runs<T>& b, float sum) {
#pragma unroll
  for (int i = 0; i < Runs<T>::kAhead; ++i) {
    float left[kRun];
    float right[kRun];
    unpack<T>(a.words[i], left);
    unpack<T>(b.words[i], right);
#pragma unroll
    for (int k = 0; k < kRun; ++k) sum = fmaf(left[k], right[k], sum);
  }
  return sum;
}

/// A warp makes a column of y.
template <class T, class Result, int kRows>
__global__ void __launch_bounds__(kWarps * 32)
    matrix_vector_kernel(const __grid_constant__ Operands p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  if (p.next_waits) ptx::allow_next_kernel();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int column = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / 32;
  if (column >= p.columns) return;
  const int row_words = p.runs * kRunWords<T>;
  const auto* const w = static_cast<const uint4*>(p.w) + static_cast<int64_t>(column) * row_words;
  const auto* const x = static_cast<const uint4*>(p.x);
  Runs<T> part;
  part.template load<true>(w, lane, p.runs);
  const float bias = p.bias == nullptr ? 0.0f : __ldg(p.bias + column);
  ptx::wait_for_previous_kernel();
  float sums[kRows] = {};
  for (int first = lane; first - lane < p.runs; first += Runs<T>::kSpan) {
    Runs<T> next;
    next.template load<true>(w, first + Runs<T>::kSpan, p.runs);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r >= p.rows) break;
      Runs<T> values;
      values.template load<false>(x + static_cast<int64_t>(r) * row_words, first, p.runs);
      sums[r] = add_products(part, values, sums[r]);
    }
    part = next;
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r >= p.rows) break;
    const float sum = reduce_warp(sums[r], Plus());
    if (lane == 0) {
      static_cast<Result*>(p.y)[static_cast<int64_t>(r) * p.columns + column] =
          from_float<Result>(clip(p.alpha * sum + bias, p.low, p.high));
    }
  }
}

template <class T, class Result>
cudaError_t launch_rows(const Operands& operands, const LaunchOptions& options) {
  const auto kernel = operands.rows == 1   ? matrix_vector_kernel<T, Result, 1>
                      : operands.rows <= 2 ? matrix_vector_kernel<T, Result, 2>
                      : operands.rows <= 4 ? matrix_vector_kernel<T, Result, 4>
                                           : matrix_vector_kernel<T, Result, 8>;
  return launch(kernel, grid_for(operands.columns, kWarps), kWarps * 32, options, operands);
}

}  // namespace

Refusal matrix_vector_refusal(const MatrixVector& size) {
  constexpr int64_t kMost = int64_t{1} << 28;
  if (size.rows < 1 || size.rows > MatrixVector::kMostRows)
    return std::to_string(size.rows) + " rows, not 1 to " + std::to_string(MatrixVector::kMostRows);
  if (size.depth < 1 || size.depth % kRun != 0)
    return "a depth of " + std::to_string(size.depth) + ", no multiple of " + std::to_string(kRun);
  if (size.columns < 1 || size.columns > kMost || size.depth > kMost) return "an empty or a huge matrix";
  return {};
}

cudaError_t matrix_vector(const void* x, const void* w, const float* bias, void* y, FloatType type,
                          FloatType result, const MatrixVector& size, const LaunchOptions& options) {
  if (matrix_vector_refusal(size) || !is_aligned(x) || !is_aligned(w)) return cudaErrorInvalidValue;
  const Operands operands{x,
                          w,
                          bias,
                          y,
                          static_cast<int>(size.rows),
                          static_cast<int>(size.columns),
                          static_cast<int>(size.depth / kRun),
                          size.alpha,
                          size.low,
                          size.high,
                          options.next_waits};
  return with_float_type(type, [&]<class T>() {
    return result == FloatType::kFloat ? launch_rows<T, float>(operands, options)
           : result == type            ? launch_rows<T, T>(operands, options)
                                       : cudaErrorInvalidValue;
  });
}

}  // namespace hone::device::cuda
