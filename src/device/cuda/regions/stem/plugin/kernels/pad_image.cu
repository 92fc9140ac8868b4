// Conversion of a network's image to the padded layout of its stem. See stem.hpp.
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/common/ptx.cuh"
#include "device/cuda/regions/stem/plugin/kernels/stem.hpp"

namespace hone::device::cuda {
namespace {

constexpr int kThreads = 256;

struct PadParams {
  const float* image;
  void* target;
  int channels;
  int height;
  int width;
  int pad_top;
  int pad_left;
  int padded_height;
  int padded_width;
};

/// 16 bytes a thread: 8 / kChannels neighbouring pixels of one row. Grid: runs of a row, rows, images.
template <class T, int kChannels>
__global__ void __launch_bounds__(kThreads)
    pad_image(const __grid_constant__ PadParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  constexpr int kPixels = 8 / kChannels;
  ptx::wait_for_previous_kernel();
  ptx::allow_next_kernel();
  const int first = static_cast<int>(blockIdx.x * kThreads + threadIdx.x) * kPixels;
  if (first >= p.padded_width) return;
  const int y = static_cast<int>(blockIdx.y) - p.pad_top;
  const size_t plane = static_cast<size_t>(p.height) * p.width;
  alignas(16) T values[8];
#pragma unroll
  for (int i = 0; i < kPixels; ++i) {
    const int x = first + i - p.pad_left;
    const bool inside = y >= 0 && y < p.height && x >= 0 && x < p.width;
    const float* const pixel =
        p.image + blockIdx.z * p.channels * plane + (inside ? static_cast<size_t>(y) * p.width + x : 0);
#pragma unroll
    for (int c = 0; c < kChannels; ++c) {
      values[i * kChannels + c] = static_cast<T>(inside && c < p.channels ? pixel[c * plane] : 0.0f);
    }
  }
  const size_t row = static_cast<size_t>(blockIdx.z) * p.padded_height + blockIdx.y;
  T* const target = static_cast<T*>(p.target) + (row * p.padded_width + first) * kChannels;
  *reinterpret_cast<uint4*>(target) = *reinterpret_cast<const uint4*>(values);
}

template <class T>
const void* kernel_for(int channels) {
  return channels == 4 ? kernel_address(&pad_image<T, 4>) : kernel_address(&pad_image<T, 8>);
}

}  // namespace

cudaError_t launch_pad_image(const StemLayout& layout, const float* image, void* target,
                             const LaunchOptions& options) {
  if (layout.padded_height > kMostStemRows || layout.problem.batch > kMostStemRows)
    return cudaErrorInvalidValue;
  PadParams params{
      image,          target,          layout.image_channels, layout.image_height, layout.image_width,
      layout.pad_top, layout.pad_left, layout.padded_height,  layout.padded_width};
  const int runs = layout.padded_width * layout.pixel_channels / 8;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t launch{};
  launch.gridDim =
      dim3(static_cast<unsigned>((runs + kThreads - 1) / kThreads),
           static_cast<unsigned>(layout.padded_height), static_cast<unsigned>(layout.problem.batch));
  launch.blockDim = dim3(kThreads);
  launch.stream = options.stream;
  launch.attrs = &attribute;
  launch.numAttrs = options.pdl ? 1 : 0;
  KernelStamp* stamp = nullptr;
  void* arguments[] = {&params, &stamp};
  const void* const kernel = layout.problem.element == Element::kHalf
                                 ? kernel_for<__half>(layout.pixel_channels)
                                 : kernel_for<__nv_bfloat16>(layout.pixel_channels);
  // As the convolutions prefer, see implicit_gemm.cu.
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                                 cudaSharedmemCarveoutMaxShared);
  if (error != cudaSuccess) return error;
  stamp = next_stamp(options);
  return cudaLaunchKernelExC(&launch, kernel, arguments);
}

}  // namespace hone::device::cuda
