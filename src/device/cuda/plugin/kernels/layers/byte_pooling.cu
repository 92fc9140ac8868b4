// See byte_pooling.hpp.
#include "device/cuda/plugin/kernels/layers/byte_pooling.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"

namespace hone::device::cuda {
namespace {

// Small, because the images that networks pool give few threads.
constexpr int kBlock = 128;

struct Axis {
  int output, input, kernel, stride, dilation, pad_begin, pad_end;
};

struct Plan {
  Axis axes[3];
  int groups;  ///< groups of kWidth channels in one pixel
  int64_t channels;
  int64_t pixels;  ///< of one input image
  int64_t units;
};

/// For one window along one axis: the taps inside the input, and the number of taps inside input and padding.
struct Span {
  int first, begin, end, padded;
};

__device__ __forceinline__ Span span_of(const Axis& axis, int at) {
  const int first = at * axis.stride - axis.pad_begin;
  const int dilation = axis.dilation;
  const int begin = first < 0 ? (-first + dilation - 1) / dilation : 0;
  const auto taps_before = [&](int limit) {
    return first >= limit ? 0 : min(axis.kernel, (limit - first + dilation - 1) / dilation);
  };
  return {first, begin, taps_before(axis.input), taps_before(axis.input + axis.pad_end)};
}

/// A thread computes kWidth channels of one output; T is int8_t or uint8_t.
template <class T, int kWidth, PoolKind kKind>
__global__ void __launch_bounds__(kBlock)
    byte_pool_kernel(const T* input, uint8_t* output, const __grid_constant__ Plan plan,
                     const __grid_constant__ ByteAverage average, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  for (int64_t unit = thread_index(); unit < plan.units; unit += grid_threads()) {
    int64_t index = unit;
    const int c = static_cast<int>(index % plan.groups) * kWidth;
    index /= plan.groups;
    const Span x = span_of(plan.axes[2], static_cast<int>(index % plan.axes[2].output));
    index /= plan.axes[2].output;
    const Span y = span_of(plan.axes[1], static_cast<int>(index % plan.axes[1].output));
    index /= plan.axes[1].output;
    const Span z = span_of(plan.axes[0], static_cast<int>(index % plan.axes[0].output));
    const T* const from = input + index / plan.axes[0].output * plan.pixels * plan.channels + c;
    constexpr int kLeast = static_cast<T>(-1) < T(0) ? -128 : 0;
    int result[kWidth];
#pragma unroll
    for (int& value : result) value = kKind == PoolKind::kMax ? kLeast : 0;
    for (int k = z.begin; k < z.end; ++k) {
      for (int j = y.begin; j < y.end; ++j) {
        const int64_t row = (static_cast<int64_t>(z.first + k * plan.axes[0].dilation) * plan.axes[1].input +
                             y.first + j * plan.axes[1].dilation) *
                            plan.axes[2].input;
#pragma unroll 4
        for (int i = x.begin; i < x.end; ++i) {
          T values[kWidth];
          load<kWidth>(from + (row + x.first + i * plan.axes[2].dilation) * plan.channels, values);
#pragma unroll
          for (int e = 0; e < kWidth; ++e) {
            result[e] = kKind == PoolKind::kMax ? max(result[e], static_cast<int>(values[e]))
                                                : result[e] + static_cast<int>(values[e]);
          }
        }
      }
    }
    uint8_t bytes[kWidth];
    if (kKind == PoolKind::kMax) {
#pragma unroll
      for (int e = 0; e < kWidth; ++e) bytes[e] = static_cast<uint8_t>(result[e]);
    } else {
      const auto inside = [](const Span& span) { return max(span.end - span.begin, 0); };
      const int taps = inside(x) * inside(y) * inside(z);
      const int divisor = kKind == PoolKind::kAverage ? taps : x.padded * y.padded * z.padded;
      const float factor = divisor == 0 ? 0.0f : average.factor / static_cast<float>(divisor);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        const float mean = static_cast<float>(result[e] - taps * average.x_zero_point) * factor;
        const float bounded = fminf(fmaxf(mean, average.low), average.high);
        bytes[e] = static_cast<uint8_t>(__float2int_rn(bounded) + average.y_zero_point);
      }
    }
    store<kWidth>(output + unit * kWidth, bytes);
  }
}

Plan plan_of(const PoolSize& size, int width) {
  Plan plan;
  plan.channels = size.channels;
  plan.groups = static_cast<int>(size.channels / width);
  plan.pixels = 1;
  plan.units = size.batch * plan.groups;
  for (int i = 0; i < 3; ++i) {
    const auto narrow = [](int64_t value) { return static_cast<int>(value); };
    plan.axes[i] = {narrow(size.output[i]), narrow(size.input[i]),    narrow(size.kernel[i]),
                    narrow(size.stride[i]), narrow(size.dilation[i]), narrow(size.pad_begin[i]),
                    narrow(size.pad_end[i])};
    plan.pixels *= size.input[i];
    plan.units *= size.output[i];
  }
  return plan;
}

template <class T, PoolKind kKind>
cudaError_t run(const void* input, void* output, const ByteAverage& average, const PoolSize& size,
                const LaunchOptions& options) {
  const auto start = [&](auto* kernel, int width) {
    const Plan plan = plan_of(size, width);
    return launch(kernel, grid_for(plan.units, kBlock), dim3(kBlock), options, static_cast<const T*>(input),
                  static_cast<uint8_t*>(output), plan, average);
  };
  const bool aligned = is_aligned(input) && is_aligned(output);
  constexpr int64_t kFewThreads = 1 << 16;
  const int64_t elements = size.batch * size.channels * size.output[0] * size.output[1] * size.output[2];
  if (aligned && size.channels % 16 == 0 && elements >= 16 * kFewThreads)
    return start(&byte_pool_kernel<T, 16, kKind>, 16);
  if (aligned && size.channels % 4 == 0) return start(&byte_pool_kernel<T, 4, kKind>, 4);
  return start(&byte_pool_kernel<T, 1, kKind>, 1);
}

}  // namespace

cudaError_t byte_max_pool(const void* input, void* output, bool is_unsigned, const PoolSize& size,
                          const LaunchOptions& options) {
  return is_unsigned ? run<uint8_t, PoolKind::kMax>(input, output, {}, size, options)
                     : run<int8_t, PoolKind::kMax>(input, output, {}, size, options);
}

cudaError_t byte_average_pool(const void* input, void* output, PoolKind kind, const ByteAverage& average,
                              const PoolSize& size, const LaunchOptions& options) {
  if (kind == PoolKind::kMax) return cudaErrorInvalidValue;
  const bool padded = kind == PoolKind::kAveragePadded;
  if (average.unsigned_x) {
    return padded ? run<uint8_t, PoolKind::kAveragePadded>(input, output, average, size, options)
                  : run<uint8_t, PoolKind::kAverage>(input, output, average, size, options);
  }
  return padded ? run<int8_t, PoolKind::kAveragePadded>(input, output, average, size, options)
                : run<int8_t, PoolKind::kAverage>(input, output, average, size, options);
}

}  // namespace hone::device::cuda
