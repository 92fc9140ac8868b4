// See pooling.hpp. This file pools over windows.
#include "device/cuda/plugin/kernels/layers/pooling.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"

namespace hone::device::cuda {
namespace {

// Small, because the images that networks pool give few threads.
constexpr int kBlock = 128;

template <class Index>
struct Axis {
  Divisor<Index> output;
  int input, kernel, stride, dilation, pad_begin, pad_end;
};

template <class Index>
struct Plan {
  Axis<Index> axes[3];
  Divisor<Index> groups;  ///< groups of channels in a pixel; in plain order, images times channels are last
  int64_t channels;
  int64_t pixels;  ///< pixels of one input image
  int64_t units;
};

/// For one window along one axis: the taps inside the input, and the number of taps inside input and padding.
struct Span {
  int first, begin, end, padded;
};

template <class Index>
__device__ __forceinline__ Span span_of(const Axis<Index>& axis, Index at) {
  const int first = static_cast<int>(at) * axis.stride - axis.pad_begin;
  const int last = axis.input + axis.pad_end;
  const int dilation = axis.dilation;
  const int begin = first < 0 ? (-first + dilation - 1) / dilation : 0;
  const auto taps_before = [&](int limit) {
    return first >= limit ? 0 : min(axis.kernel, (limit - first + dilation - 1) / dilation);
  };
  return {first, begin, taps_before(axis.input), taps_before(last)};
}

/// Channels-last: one thread computes `width` channels of
/// one output. Plain: one output of one plane, width 1.
template <class T, class Index, int width, bool last, bool maximum>
__global__ void __launch_bounds__(kBlock, 8)
    pool_kernel(const T* input, T* output, const __grid_constant__ Plan<Index> plan, bool count_padding,
                KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  for (int64_t unit = thread_index(); unit < plan.units; unit += grid_threads()) {
    auto index = static_cast<Index>(unit);
    Index c = 0;
    if constexpr (last) c = take_coordinate(index, plan.groups) * width;
    const Span x = span_of(plan.axes[2], take_coordinate(index, plan.axes[2].output));
    const Span y = span_of(plan.axes[1], take_coordinate(index, plan.axes[1].output));
    const Span z = span_of(plan.axes[0], take_coordinate(index, plan.axes[0].output));
    const int64_t step = last ? plan.channels : 1;
    const T* from = input + static_cast<int64_t>(index) * plan.pixels * step + c;
    float result[width];
#pragma unroll
    for (int k = 0; k < width; ++k) result[k] = maximum ? -INFINITY : 0.0f;
    for (int d = z.begin; d < z.end; ++d) {
      const int64_t plane = static_cast<int64_t>(z.first + d * plan.axes[0].dilation) * plan.axes[1].input;
      for (int r = y.begin; r < y.end; ++r) {
        const int64_t row = (plane + y.first + r * plan.axes[1].dilation) * plan.axes[2].input;
        for (int s = x.begin; s < x.end; ++s) {
          float values[width];
          load_floats<width>(from + (row + x.first + s * plan.axes[2].dilation) * step, values);
#pragma unroll
          for (int k = 0; k < width; ++k) {
            if constexpr (maximum) {
              result[k] = values[k] > result[k] || values[k] != values[k] ? values[k] : result[k];
            } else {
              result[k] += values[k];
            }
          }
        }
      }
    }
    if constexpr (!maximum) {
      const auto inside = [](const Span& span) { return max(span.end - span.begin, 0); };
      // At least 1, so that the sum over no taps stays 0. The exact division is a subroutine that costs
      // registers; __fdividef() is accurate to 2 ulp.
      const int count = count_padding ? z.padded * y.padded * x.padded : inside(z) * inside(y) * inside(x);
#pragma unroll
      for (int k = 0; k < width; ++k) result[k] = __fdividef(result[k], static_cast<float>(max(count, 1)));
    }
    store_floats<width>(output + unit * width, result);
  }
}

template <class Index>
Plan<Index> plan_of(const PoolSize& size, ImageOrder order, int width) {
  Plan<Index> plan{};
  for (int i = 0; i < 3; ++i) {
    plan.axes[i] = {Divisor<Index>(size.output[i]),     static_cast<int>(size.input[i]),
                    static_cast<int>(size.kernel[i]),   static_cast<int>(size.stride[i]),
                    static_cast<int>(size.dilation[i]), static_cast<int>(size.pad_begin[i]),
                    static_cast<int>(size.pad_end[i])};
  }
  plan.groups = Divisor<Index>(order == ImageOrder::kPlain ? 1 : size.channels / width);
  plan.channels = size.channels;
  plan.pixels = size.input[0] * size.input[1] * size.input[2];
  plan.units = size.batch * size.channels * size.output[0] * size.output[1] * size.output[2] / width;
  return plan;
}

template <class T, class Index, bool maximum>
cudaError_t launch_pool(const void* input, void* output, ImageOrder order, PoolKind kind,
                        const PoolSize& size, const LaunchOptions& options) {
  const bool last = order == ImageOrder::kChannelsLast;
  const bool vector = last && size.channels % kVector<T> == 0 && is_aligned(input) && is_aligned(output);
  const auto kernel = vector ? pool_kernel<T, Index, kVector<T>, true, maximum>
                      : last ? pool_kernel<T, Index, 1, true, maximum>
                             : pool_kernel<T, Index, 1, false, maximum>;
  const auto plan = plan_of<Index>(size, order, vector ? kVector<T> : 1);
  return launch(kernel, grid_for(plan.units, kBlock), kBlock, options, static_cast<const T*>(input),
                static_cast<T*>(output), plan, kind == PoolKind::kAveragePadded);
}

}  // namespace

cudaError_t pool(const void* input, void* output, FloatType type, ImageOrder order, PoolKind kind,
                 const PoolSize& size, const LaunchOptions& options) {
  const int64_t outputs = size.batch * size.channels * size.output[0] * size.output[1] * size.output[2];
  if (outputs == 0) return cudaSuccess;
  return with_float_type(type, [&]<class T>() {
    return with_index(outputs, [&]<class Index>() {
      return kind == PoolKind::kMax ? launch_pool<T, Index, true>(input, output, order, kind, size, options)
                                    : launch_pool<T, Index, false>(input, output, order, kind, size, options);
    });
  });
}

}  // namespace hone::device::cuda
