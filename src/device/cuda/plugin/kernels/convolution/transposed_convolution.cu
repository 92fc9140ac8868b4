// See transposed_convolution.hpp. Every output gathers the inputs whose windows cover it.
#include "device/cuda/plugin/kernels/convolution/transposed_convolution.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"

namespace hone::device::cuda {
namespace {

/// The input position along one axis that contributes to output `at` through the tap, or -1.
__device__ __forceinline__ int64_t source_of(const ConvolutionSize& size, int axis, int64_t at, int64_t tap) {
  const int64_t shifted = at + size.pad_begin[axis] - tap * size.dilation[axis];
  if (shifted < 0 || shifted % size.stride[axis] != 0) return -1;
  const int64_t source = shifted / size.stride[axis];
  return source < size.input[axis] ? source : -1;
}

/// The position of one output: its pixel, and the addresses of its input channels and weights.
struct Place {
  int64_t at[3];
  int64_t input;           ///< offset of channel 0 of the group, at pixel 0
  int64_t input_channel;   ///< elements from one channel of a pixel to the next
  int64_t input_pixel;     ///< elements from one pixel of a channel to the next
  int64_t weight;          ///< offset of the weights of that channel, at tap 0
  int64_t weight_channel;  ///< elements from one input channel's weights to the next
  int64_t weight_tap;
  int64_t channels;  ///< channels of the group
};

template <class T>
__device__ __forceinline__ float gathered(const T* input, const T* weights, const ConvolutionSize& size,
                                          const Place& place, float sum) {
  for (int64_t d = 0; d < size.kernel[0]; ++d) {
    const int64_t z = source_of(size, 0, place.at[0], d);
    if (z < 0) continue;
    for (int64_t r = 0; r < size.kernel[1]; ++r) {
      const int64_t y = source_of(size, 1, place.at[1], r);
      if (y < 0) continue;
      for (int64_t s = 0; s < size.kernel[2]; ++s) {
        const int64_t x = source_of(size, 2, place.at[2], s);
        if (x < 0) continue;
        const T* from =
            input + place.input + ((z * size.input[1] + y) * size.input[2] + x) * place.input_pixel;
        const T* weight =
            weights + place.weight + ((d * size.kernel[1] + r) * size.kernel[2] + s) * place.weight_tap;
        for (int64_t c = 0; c < place.channels; ++c) {
          sum =
              fmaf(to_float(from[c * place.input_channel]), to_float(weight[c * place.weight_channel]), sum);
        }
      }
    }
  }
  return sum;
}

template <class T, bool last>
__global__ void __launch_bounds__(kThreads)
    transposed_kernel(const T* input, const T* weights, const float* bias, T* output,
                      const __grid_constant__ ConvolutionSize size, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const int64_t group_inputs = size.in_channels / size.group;
  const int64_t group_outputs = size.out_channels / size.group;
  const int64_t taps = size.kernel[0] * size.kernel[1] * size.kernel[2];
  const int64_t read = size.input[0] * size.input[1] * size.input[2];
  const int64_t pixels = size.output[0] * size.output[1] * size.output[2];
  const int64_t count = size.batch * size.out_channels * pixels;
  for (int64_t i = thread_index(); i < count; i += grid_threads()) {
    const int64_t k = last ? i % size.out_channels : i / pixels % size.out_channels;
    const int64_t pixel = last ? i / size.out_channels % pixels : i % pixels;
    const int64_t n = i / size.out_channels / pixels;
    const int64_t first = k / group_outputs * group_inputs;
    const int64_t filter = k % group_outputs;
    Place place;
    place.at[0] = pixel / (size.output[1] * size.output[2]);
    place.at[1] = pixel / size.output[2] % size.output[1];
    place.at[2] = pixel % size.output[2];
    place.input = n * size.in_channels * read + first * (last ? 1 : read);
    place.input_channel = last ? 1 : read;
    place.input_pixel = last ? size.in_channels : 1;
    place.weight = first * group_outputs * taps + filter * (last ? 1 : taps);
    place.weight_channel = group_outputs * taps;
    place.weight_tap = last ? group_outputs : 1;
    place.channels = group_inputs;
    output[i] = from_float<T>(gathered(input, weights, size, place, bias != nullptr ? bias[k] : 0.0f));
  }
}

}  // namespace

cudaError_t transposed_convolution(const ConvolutionArguments& arguments, FloatType type, ImageOrder order,
                                   const ConvolutionSize& size, const LaunchOptions& options) {
  if (size.group <= 0 || size.in_channels % size.group != 0 || size.out_channels % size.group != 0)
    return cudaErrorInvalidValue;
  const int64_t count = size.batch * size.out_channels * size.output[0] * size.output[1] * size.output[2];
  return with_float_type(type, [&]<class T>() {
    const auto kernel =
        order == ImageOrder::kChannelsLast ? transposed_kernel<T, true> : transposed_kernel<T, false>;
    return launch(kernel, grid_for(count), kThreads, options, static_cast<const T*>(arguments.input),
                  static_cast<const T*>(arguments.weights), arguments.bias, static_cast<T*>(arguments.output),
                  size);
  });
}

}  // namespace hone::device::cuda
