// See depthwise.hpp. This is the direct kernel for any number of groups.
#include "device/cuda/plugin/kernels/common/epilogue.cuh"
#include "device/cuda/plugin/kernels/convolution/depthwise.hpp"

namespace hone::device::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads)
    grouped_kernel(const T* input, const T* weights, const float* bias, T* output,
                   const __grid_constant__ ConvolutionSize size, const __grid_constant__ Epilogue epilogue,
                   KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const int64_t group_inputs = size.in_channels / size.group;
  const int64_t group_outputs = size.out_channels / size.group;
  const int64_t pixels = size.output[0] * size.output[1] * size.output[2];
  const int64_t count = size.batch * pixels * size.out_channels;
  for (int64_t i = thread_index(); i < count; i += grid_threads()) {
    const int64_t k = i % size.out_channels;
    const int64_t pixel = i / size.out_channels % pixels;
    const int64_t n = i / size.out_channels / pixels;
    const int64_t first = k / group_outputs * group_inputs;
    const int64_t at[3] = {pixel / (size.output[1] * size.output[2]), pixel / size.output[2] % size.output[1],
                           pixel % size.output[2]};
    float sum[1] = {bias != nullptr ? bias[k] : 0.0f};
    const T* taps = weights + k * size.kernel[0] * size.kernel[1] * size.kernel[2] * group_inputs;
    for (int64_t d = 0; d < size.kernel[0]; ++d) {
      const int64_t z = at[0] * size.stride[0] - size.pad_begin[0] + d * size.dilation[0];
      if (z < 0 || z >= size.input[0]) continue;
      for (int64_t r = 0; r < size.kernel[1]; ++r) {
        const int64_t y = at[1] * size.stride[1] - size.pad_begin[1] + r * size.dilation[1];
        if (y < 0 || y >= size.input[1]) continue;
        for (int64_t s = 0; s < size.kernel[2]; ++s) {
          const int64_t x = at[2] * size.stride[2] - size.pad_begin[2] + s * size.dilation[2];
          if (x < 0 || x >= size.input[2]) continue;
          const T* from =
              input + (((n * size.input[0] + z) * size.input[1] + y) * size.input[2] + x) * size.in_channels +
              first;
          const T* weight = taps + ((d * size.kernel[1] + r) * size.kernel[2] + s) * group_inputs;
          for (int64_t c = 0; c < group_inputs; ++c)
            sum[0] = fmaf(to_float(from[c]), to_float(weight[c]), sum[0]);
        }
      }
    }
    apply_epilogue<T>(epilogue, sum, n, k, i);
    output[i] = from_float<T>(sum[0]);
  }
}

}  // namespace

cudaError_t grouped_convolution(const ConvolutionArguments& arguments, FloatType type,
                                const ConvolutionSize& size, const Epilogue& epilogue,
                                const LaunchOptions& options) {
  if (size.group <= 0 || size.in_channels % size.group != 0 || size.out_channels % size.group != 0)
    return cudaErrorInvalidValue;
  const int64_t count = size.batch * size.out_channels * size.output[0] * size.output[1] * size.output[2];
  return with_float_type(type, [&]<class T>() {
    return launch(grouped_kernel<T>, grid_for(count), kThreads, options,
                  static_cast<const T*>(arguments.input), static_cast<const T*>(arguments.weights),
                  arguments.bias, static_cast<T*>(arguments.output), size, epilogue);
  });
}

}  // namespace hone::device::cuda
