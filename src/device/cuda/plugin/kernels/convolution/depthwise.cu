// See depthwise.hpp. The kernel is memory-bound: a thread holds 16 bytes of channels and a strip of outputs
// along a row, so that each input that it loads serves all windows of the strip that cover it.
#include "device/cuda/plugin/kernels/convolution/depthwise.hpp"

#include "device/cuda/plugin/kernels/common/epilogue.cuh"

namespace hone::device::cuda {
namespace {

constexpr int kBlock = 128;
/// Channels of a thread if there are few outputs: with more threads, each one has less to wait for.
constexpr int kNarrow = 2;

struct Plan {
  int channels, rows, columns;        ///< of the input
  int out_rows, out_columns, strips;  ///< strips in one output row
  int kernel_rows, kernel_columns, stride_y, stride_x, dilation_y, dilation_x, pad_y, pad_x;
  Divisor<uint32_t> by_group, by_strip, by_row;
  int64_t units;
};

template <class T, int width>
__device__ __forceinline__ void start(float (&sums)[width], const float* bias, int c) {
#pragma unroll
  for (int k = 0; k < width; ++k) sums[k] = bias != nullptr ? bias[c + k] : 0.0f;
}

/// For a square kernel of `taps` x `taps` with equal strides and without dilation.
template <class T, int width, int taps, int stride, int strip>
__global__ void __launch_bounds__(kBlock, taps == 3 && strip == 1 ? 4 : 3)
    strip_kernel(const T* input, const float* weights, const float* bias, T* output,
                 const __grid_constant__ Plan plan, const __grid_constant__ Epilogue epilogue,
                 bool next_waits, KernelStamp* stamp) {
  using Word = typename WordOf<width * sizeof(T)>::Type;
  constexpr int kReach = (strip - 1) * stride + taps;
  // A larger filter would not leave registers for the image.
  constexpr bool kHoldsFilter = taps == 3 || width == kNarrow;
  // With few channels there is room for the whole window, which then takes one round trip to memory.
  constexpr int kRowsAhead = width == kNarrow ? taps : 1;
  RunningKernel running(stamp);
  auto unit = static_cast<uint32_t>(thread_index());
  const bool idle = unit >= plan.units;
  const int c = static_cast<int>(take_coordinate(unit, plan.by_group)) * width;
  const int column = static_cast<int>(take_coordinate(unit, plan.by_strip)) * strip;
  const int row = static_cast<int>(take_coordinate(unit, plan.by_row));
  const auto n = static_cast<int64_t>(unit);
  // The filter does not depend on the previous kernel.
  float filter[taps][taps][width];
  const auto load_filter = [&](int r) {
#pragma unroll
    for (int s = 0; s < taps; ++s)
      load<width>(weights + static_cast<int64_t>(r * taps + s) * plan.channels + c, filter[r][s]);
  };
  if constexpr (kHoldsFilter) {
#pragma unroll
    for (int r = 0; r < taps; ++r) load_filter(r);
  }
  begin_kernel(next_waits);
  if (idle) return;
  running.finishing();
  float sums[strip][width];
#pragma unroll
  for (int o = 0; o < strip; ++o) start<T>(sums[o], bias, c);
  const int x0 = column * stride - plan.pad_x;
  Word words[kRowsAhead][kReach];
  const auto load_row = [&](int r) {
    const int y = row * stride - plan.pad_y + r;
    const bool inside = y >= 0 && y < plan.rows;
    const T* line = input + ((n * plan.rows + y) * plan.columns) * plan.channels + c;
#pragma unroll
    for (int i = 0; i < kReach; ++i) {
      const int x = x0 + i;
      words[r % kRowsAhead][i] = {};
      if (inside && x >= 0 && x < plan.columns)
        words[r % kRowsAhead][i] =
            *reinterpret_cast<const Word*>(line + static_cast<int64_t>(x) * plan.channels);
    }
  };
  if constexpr (kRowsAhead > 1) {
#pragma unroll
    for (int r = 0; r < taps; ++r) load_row(r);
  }
#pragma unroll
  for (int r = 0; r < taps; ++r) {
    if constexpr (!kHoldsFilter) load_filter(r);
    if constexpr (kRowsAhead == 1) load_row(r);
#pragma unroll
    for (int i = 0; i < kReach; ++i) {
      T values[width];
      memcpy(values, &words[r % kRowsAhead][i], sizeof values);
#pragma unroll
      for (int o = 0; o < strip; ++o) {
        const int s = i - o * stride;
        if (s < 0 || s >= taps) continue;
#pragma unroll
        for (int k = 0; k < width; ++k) sums[o][k] = fmaf(to_float(values[k]), filter[r][s][k], sums[o][k]);
      }
    }
  }
#pragma unroll
  for (int o = 0; o < strip; ++o) {
    if (column + o >= plan.out_columns) break;
    const int64_t offset =
        ((n * plan.out_rows + row) * plan.out_columns + column + o) * static_cast<int64_t>(plan.channels) + c;
    apply_epilogue<T>(epilogue, sums[o], n, c, offset);
    if (o == 0) running.leave();
    store_floats<width>(output + offset, sums[o]);
  }
}

template <class T, int width>
__global__ void __launch_bounds__(kBlock)
    window_kernel(const T* input, const float* weights, const float* bias, T* output,
                  const __grid_constant__ Plan plan, const __grid_constant__ Epilogue epilogue,
                  bool next_waits, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel(next_waits);
  auto unit = static_cast<uint32_t>(thread_index());
  if (unit >= plan.units) return;
  const int c = static_cast<int>(take_coordinate(unit, plan.by_group)) * width;
  const int column = static_cast<int>(take_coordinate(unit, plan.by_strip));
  const int row = static_cast<int>(take_coordinate(unit, plan.by_row));
  const auto n = static_cast<int64_t>(unit);
  float sums[width];
  start<T>(sums, bias, c);
  for (int r = 0; r < plan.kernel_rows; ++r) {
    const int y = row * plan.stride_y - plan.pad_y + r * plan.dilation_y;
    if (y < 0 || y >= plan.rows) continue;
    for (int s = 0; s < plan.kernel_columns; ++s) {
      const int x = column * plan.stride_x - plan.pad_x + s * plan.dilation_x;
      if (x < 0 || x >= plan.columns) continue;
      float values[width];
      float taps[width];
      load_floats<width>(input + ((n * plan.rows + y) * plan.columns + x) * plan.channels + c, values);
      load_floats<width>(weights + static_cast<int64_t>(r * plan.kernel_columns + s) * plan.channels + c,
                         taps);
#pragma unroll
      for (int k = 0; k < width; ++k) sums[k] = fmaf(values[k], taps[k], sums[k]);
    }
  }
  const int64_t offset =
      ((n * plan.out_rows + row) * plan.out_columns + column) * static_cast<int64_t>(plan.channels) + c;
  apply_epilogue<T>(epilogue, sums, n, c, offset);
  store_floats<width>(output + offset, sums);
}

template <class T>
using Kernel = void (*)(const T*, const float*, const float*, T*, Plan, Epilogue, bool, KernelStamp*);

template <class T, int taps, int stride>
Kernel<T> strip_of(int strip) {
  if (strip == 4) return strip_kernel<T, kVector<T>, taps, stride, 4>;
  if (strip == 2) return strip_kernel<T, kVector<T>, taps, stride, 2>;
  return strip_kernel<T, kVector<T>, taps, stride, 1>;
}

template <class T>
Kernel<T> strip_of(int taps, int stride, int strip) {
  if (taps == 3) return stride == 1 ? strip_of<T, 3, 1>(strip) : strip_of<T, 3, 2>(strip);
  return stride == 1 ? strip_of<T, 5, 1>(strip) : strip_of<T, 5, 2>(strip);
}

template <class T, int taps>
Kernel<T> narrow_of(int stride) {
  return stride == 1 ? strip_kernel<T, kNarrow, taps, 1, 1> : strip_kernel<T, kNarrow, taps, 2, 1>;
}

/// Long strips load less. Short ones give more threads, which small images need to fill the device.
int choose_strip(int64_t outputs) {
  constexpr int64_t kEnough = 1 << 17;
  if (outputs >= 4 * kEnough) return 4;
  return outputs >= 2 * kEnough ? 2 : 1;
}

Plan plan_of(const ConvolutionSize& size, int width, int strip) {
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  Plan plan{};
  plan.channels = narrow(size.in_channels);
  plan.rows = narrow(size.input[1]);
  plan.columns = narrow(size.input[2]);
  plan.out_rows = narrow(size.output[1]);
  plan.out_columns = narrow(size.output[2]);
  plan.strips = (plan.out_columns + strip - 1) / strip;
  plan.kernel_rows = narrow(size.kernel[1]);
  plan.kernel_columns = narrow(size.kernel[2]);
  plan.stride_y = narrow(size.stride[1]);
  plan.stride_x = narrow(size.stride[2]);
  plan.dilation_y = narrow(size.dilation[1]);
  plan.dilation_x = narrow(size.dilation[2]);
  plan.pad_y = narrow(size.pad_begin[1]);
  plan.pad_x = narrow(size.pad_begin[2]);
  plan.by_group = Divisor<uint32_t>(plan.channels / width);
  plan.by_strip = Divisor<uint32_t>(plan.strips);
  plan.by_row = Divisor<uint32_t>(plan.out_rows);
  plan.units = size.batch * plan.out_rows * plan.strips * (plan.channels / width);
  return plan;
}

}  // namespace

cudaError_t depthwise_convolution(const ConvolutionArguments& arguments, FloatType type,
                                  const ConvolutionSize& size, const Epilogue& epilogue, int strip,
                                  bool narrow, const LaunchOptions& options) {
  const bool depthwise = size.in_channels == size.group && size.out_channels == size.group;
  if (!depthwise || size.kernel[0] != 1 || size.input[0] != 1 || size.output[0] != 1 || strip < 0 ||
      strip == 3 || strip > 4 || (narrow && (strip > 1 || !has_small_windows(size)))) {
    return cudaErrorInvalidValue;
  }
  const int64_t outputs = size.batch * size.output[1] * size.output[2] * size.out_channels;
  if (outputs == 0) return cudaSuccess;
  return with_float_type(type, [&]<class T>() {
    const bool vector = size.in_channels % kVector<T> == 0 && is_aligned(arguments.input) &&
                        is_aligned(arguments.weights) && is_aligned(arguments.output) && is_aligned(epilogue);
    const bool strips = vector && has_small_windows(size);
    const int width = !vector ? 1 : narrow ? kNarrow : kVector<T>;
    const int length = !strips || narrow ? 1 : strip != 0 ? strip : choose_strip(outputs / width);
    const Plan plan = plan_of(size, width, length);
    if (plan.units >= int64_t{1} << 31) return cudaErrorInvalidValue;
    const auto taps = static_cast<int>(size.kernel[1]);
    const auto stride = static_cast<int>(size.stride[1]);
    const Kernel<T> kernel = strips && narrow
                                 ? (taps == 3 ? narrow_of<T, 3>(stride) : narrow_of<T, 5>(stride))
                             : strips ? strip_of<T>(taps, stride, length)
                             : vector ? window_kernel<T, kVector<T>>
                                      : window_kernel<T, 1>;
    return launch(kernel, grid_for(plan.units, kBlock), kBlock, options,
                  static_cast<const T*>(arguments.input), static_cast<const float*>(arguments.weights),
                  arguments.bias, static_cast<T*>(arguments.output), plan, epilogue, options.next_waits);
  });
}

}  // namespace hone::device::cuda
