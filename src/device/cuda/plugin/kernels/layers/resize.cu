// See resize.hpp.
#include "device/cuda/plugin/kernels/layers/resize.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"

namespace hone::device::cuda {
namespace {

/// A byte that is only selected, never computed with; a float can hold it.
struct Byte {
  uint8_t bits;
};
__device__ __forceinline__ float to_float(Byte x) { return x.bits; }

}  // namespace

template <>
__device__ __forceinline__ Byte from_float<Byte>(float x) {
  return {static_cast<uint8_t>(x)};
}

namespace {

template <class Index>
struct Plan {
  Divisor<Index> outputs[3];
  Divisor<Index> groups;  ///< groups of channels in one pixel; 1 in plain order
  int64_t channels;
  int64_t units;
  float extrapolation;
};

/// The taps of one output position; an axis without a table reads its own position.
struct Taps {
  const int32_t* positions;
  const float* weights;
  int count;
  int own;
  __device__ __forceinline__ int position(int i) const { return positions == nullptr ? own : positions[i]; }
  __device__ __forceinline__ float weight(int i) const { return positions == nullptr ? 1.0f : weights[i]; }
};

template <class Index>
__device__ __forceinline__ Taps taps_at(const ResizeAxisTaps& axis, Index at) {
  if (axis.positions == nullptr) return {nullptr, nullptr, 1, static_cast<int>(at)};
  const int64_t first = static_cast<int64_t>(at) * axis.taps;
  return {axis.positions + first, axis.weights + first, axis.taps, 0};
}

/// Channels-last: one thread computes `width` channels of
/// one output. Plain: one output of one plane, width 1.
template <class T, class Index, int width, bool last>
__global__ void __launch_bounds__(kThreads, 4)
    resize_kernel(const T* input, T* output, const __grid_constant__ Plan<Index> plan,
                  const __grid_constant__ ResizeSize size, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  for (int64_t unit = thread_index(); unit < plan.units; unit += grid_threads()) {
    auto index = static_cast<Index>(unit);
    Index c = 0;
    if constexpr (last) c = take_coordinate(index, plan.groups) * width;
    const Taps x = taps_at(size.axes[2], take_coordinate(index, plan.outputs[2]));
    const Taps y = taps_at(size.axes[1], take_coordinate(index, plan.outputs[1]));
    const Taps z = taps_at(size.axes[0], take_coordinate(index, plan.outputs[0]));
    const int64_t step = last ? plan.channels : 1;
    const int64_t pixels = size.axes[0].input * size.axes[1].input * size.axes[2].input;
    const T* from = input + static_cast<int64_t>(index) * pixels * step + c;
    float sums[width];
    const bool outside = x.position(0) < 0 || y.position(0) < 0 || z.position(0) < 0;
#pragma unroll
    for (int k = 0; k < width; ++k) sums[k] = outside ? plan.extrapolation : 0.0f;
    for (int d = 0; d < z.count && !outside; ++d) {
      for (int r = 0; r < y.count; ++r) {
        const int64_t row = (z.position(d) * size.axes[1].input + y.position(r)) * size.axes[2].input;
        const float weight = z.weight(d) * y.weight(r);
        for (int s = 0; s < x.count; ++s) {
          float values[width];
          load_floats<width>(from + (row + x.position(s)) * step, values);
#pragma unroll
          for (int k = 0; k < width; ++k) sums[k] = fmaf(weight * x.weight(s), values[k], sums[k]);
        }
      }
    }
    store_floats<width>(output + unit * width, sums);
  }
}

template <class T>
cudaError_t launch_resize(const void* input, void* output, ImageOrder order, const ResizeSize& size,
                          float extrapolation, const LaunchOptions& options) {
  int64_t count = size.batch * size.channels;
  for (const ResizeAxisTaps& axis : size.axes) {
    if (axis.positions == nullptr && axis.input != axis.output) return cudaErrorInvalidValue;
    count *= axis.output;
  }
  if (count == 0) return cudaSuccess;
  return with_index(count, [&]<class Index>() {
    const bool last = order == ImageOrder::kChannelsLast;
    const bool vector = last && size.channels % kVector<T> == 0 && is_aligned(input) && is_aligned(output);
    const int width = vector ? kVector<T> : 1;
    Plan<Index> plan{};
    for (int i = 0; i < 3; ++i) plan.outputs[i] = Divisor<Index>(size.axes[i].output);
    plan.groups = Divisor<Index>(last ? size.channels / width : 1);
    plan.channels = size.channels;
    plan.units = count / width;
    plan.extrapolation = extrapolation;
    const auto kernel = vector ? resize_kernel<T, Index, kVector<T>, true>
                        : last ? resize_kernel<T, Index, 1, true>
                               : resize_kernel<T, Index, 1, false>;
    return launch(kernel, grid_for(plan.units), kThreads, options, static_cast<const T*>(input),
                  static_cast<T*>(output), plan, size);
  });
}

}  // namespace

cudaError_t resize(const void* input, void* output, FloatType type, ImageOrder order, const ResizeSize& size,
                   float extrapolation, const LaunchOptions& options) {
  return with_float_type(
      type, [&]<class T>() { return launch_resize<T>(input, output, order, size, extrapolation, options); });
}

cudaError_t resize_bytes(const void* input, void* output, ImageOrder order, const ResizeSize& size,
                         const LaunchOptions& options) {
  return launch_resize<Byte>(input, output, order, size, 0, options);
}

}  // namespace hone::device::cuda
