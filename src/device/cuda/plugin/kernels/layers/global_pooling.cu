// See pooling.hpp. These kernels pool over whole images.
#include <type_traits>

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/reduce.cuh"
#include "device/cuda/plugin/kernels/layers/pooling.hpp"

namespace hone::device::cuda {
namespace {

/// Blocks of kLanes x kRows threads: lanes hold adjacent channels, rows divide the pixels.
constexpr int kLanes = 8;
constexpr int kRows = 32;

template <class T, class Result, int width, bool maximum>
__global__ void __launch_bounds__(kLanes* kRows)
    channels_last_kernel(const T* input, Result* output, int64_t batch, int64_t channels, int64_t pixels,
                         bool next_waits, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel(next_waits);
  using Combine = std::conditional_t<maximum, Maximum, Plus>;
  __shared__ float partial[kRows][kLanes][width];
  const int lane = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(threadIdx.y);
  const int64_t blocks = (channels + kLanes * width - 1) / (kLanes * width);
  for (int64_t unit = blockIdx.x; unit < batch * blocks; unit += gridDim.x) {
    const int64_t n = unit / blocks;
    const int64_t c = (unit % blocks * kLanes + lane) * width;
    float sums[width];
#pragma unroll
    for (int k = 0; k < width; ++k) sums[k] = maximum ? -INFINITY : 0.0f;
    if (c < channels) {
      for (int64_t p = row; p < pixels; p += kRows) {
        float values[width];
        load_floats<width>(input + (n * pixels + p) * channels + c, values);
#pragma unroll
        for (int k = 0; k < width; ++k) sums[k] = Combine()(sums[k], values[k]);
      }
    }
#pragma unroll
    for (int k = 0; k < width; ++k) partial[row][lane][k] = sums[k];
    __syncthreads();
    const int thread = row * kLanes + lane;
    if (thread < kLanes * width) {
      const int64_t channel = unit % blocks * kLanes * width + thread;
      float total = partial[0][thread / width][thread % width];
#pragma unroll
      for (int r = 1; r < kRows; ++r) total = Combine()(total, partial[r][thread / width][thread % width]);
      if (channel < channels)
        output[n * channels + channel] =
            from_float<Result>(maximum ? total : total / static_cast<float>(pixels));
    }
    __syncthreads();
  }
}

/// One warp for each plane.
template <class T, class Result, bool maximum>
__global__ void __launch_bounds__(kThreads)
    plain_kernel(const T* input, Result* output, int64_t planes, int64_t pixels, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  using Combine = std::conditional_t<maximum, Maximum, Plus>;
  const int64_t warps = grid_threads() / 32;
  for (int64_t plane = thread_index() / 32; plane < planes; plane += warps) {
    float sum = maximum ? -INFINITY : 0.0f;
    for (int64_t p = threadIdx.x % 32; p < pixels; p += 32)
      sum = Combine()(sum, to_float(input[plane * pixels + p]));
    sum = reduce_warp(sum, Combine());
    if (threadIdx.x % 32 == 0)
      output[plane] = from_float<Result>(maximum ? sum : sum / static_cast<float>(pixels));
  }
}

template <class T, class Result, bool maximum>
cudaError_t launch_global(const void* input, ImageOrder order, void* output, int64_t batch, int64_t channels,
                          int64_t pixels, const LaunchOptions& options) {
  const auto* from = static_cast<const T*>(input);
  auto* to = static_cast<Result*>(output);
  if (order == ImageOrder::kPlain) {
    return launch(plain_kernel<T, Result, maximum>, grid_for(batch * channels, kThreads / 32), kThreads,
                  options, from, to, batch * channels, pixels);
  }
  const bool vector = channels % kVector<T> == 0 && is_aligned(input);
  const int width = vector ? kVector<T> : 1;
  const auto kernel = vector ? channels_last_kernel<T, Result, kVector<T>, maximum>
                             : channels_last_kernel<T, Result, 1, maximum>;
  const int64_t blocks = (channels + kLanes * width - 1) / (kLanes * width);
  return launch(kernel, grid_for(batch * blocks, 1), dim3(kLanes, kRows), options, from, to, batch, channels,
                pixels, options.next_waits);
}

}  // namespace

cudaError_t global_pool(const void* input, FloatType type, ImageOrder order, void* output,
                        FloatType output_type, bool maximum, int64_t batch, int64_t channels, int64_t pixels,
                        const LaunchOptions& options) {
  return with_float_type(type, [&]<class T>() {
    return with_float_type(output_type, [&]<class Result>() {
      return maximum
                 ? launch_global<T, Result, true>(input, order, output, batch, channels, pixels, options)
                 : launch_global<T, Result, false>(input, order, output, batch, channels, pixels, options);
    });
  });
}

}  // namespace hone::device::cuda
