// See frame_input.hpp. A thread computes the three channels of one pixel, or of two adjacent pixels if one
// store takes both. Frames are read through the caches: a target pixel needs four source pixels with their
// chroma, or the pixels of its window.
#include "device/cuda/plugin/kernels/image/frame_input.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"

namespace hone::device::cuda {
namespace {

constexpr int kColumns = 32;
constexpr int kRows = 8;

template <class T, FrameFormat format, int pixels, bool channels_last, bool windows>
__global__ void __launch_bounds__(kColumns* kRows)
    frame_input_kernel(const __grid_constant__ FrameInput input, T* __restrict__ image, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const int32_t x = static_cast<int32_t>(blockIdx.x * kColumns + threadIdx.x) * pixels;
  const auto y = static_cast<int32_t>(blockIdx.y * kRows + threadIdx.y);
  if (x >= input.input_width || y >= input.input_height) return;
  float values[pixels][3];
#pragma unroll
  for (int i = 0; i < pixels; ++i) frame::values_at<format, windows>(input, x + i, y, values[i]);
  const int64_t at = int64_t{y} * input.input_width + x;
  if constexpr (channels_last) {
#pragma unroll
    for (int i = 0; i < 3 * pixels; ++i) image[3 * at + i] = from_float<T>(values[i / 3][i % 3]);
    return;
  }
  const int64_t plane = int64_t{input.input_width} * input.input_height;
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    float row[pixels];
#pragma unroll
    for (int i = 0; i < pixels; ++i) row[i] = values[i][c];
    store_floats<pixels>(image + c * plane + at, row);
  }
}

template <class T, FrameFormat format>
cudaError_t launch_frame_input(const FrameInput& input, void* image, ImageOrder order,
                               const LaunchOptions& options) {
  const bool last = order == ImageOrder::kChannelsLast;
  const bool windows = input.columns.windows != nullptr;
  // If the width is odd, rows are not aligned to the larger stores.
  constexpr size_t kStore = 2 * sizeof(T);
  const bool pairs =
      !windows && input.input_width % 2 == 0 && reinterpret_cast<uintptr_t>(image) % kStore == 0;
  const int pixels = pairs ? 2 : 1;
  const auto with_windows =
      last ? frame_input_kernel<T, format, 1, true, true> : frame_input_kernel<T, format, 1, false, true>;
  const auto with_taps = last    ? frame_input_kernel<T, format, 1, true, false>
                         : pairs ? frame_input_kernel<T, format, 2, false, false>
                                 : frame_input_kernel<T, format, 1, false, false>;
  const auto kernel = windows ? with_windows : with_taps;
  const int32_t columns = last ? input.input_width : input.input_width / pixels;
  const dim3 grid((columns + kColumns - 1) / kColumns, (input.input_height + kRows - 1) / kRows);
  return launch(kernel, grid, dim3(kColumns, kRows), options, input, static_cast<T*>(image));
}

bool is_covered(const FrameInput& input) {
  const bool inside = input.left >= 0 && input.top >= 0 && input.width >= 0 && input.height >= 0 &&
                      input.left + input.width <= input.input_width &&
                      input.top + input.height <= input.input_height;
  const int planes = input.format == FrameFormat::kRgb24 ? 1 : input.format == FrameFormat::kNv12 ? 2 : 3;
  const bool taps =
      input.columns.taps != nullptr && input.rows.taps != nullptr && input.columns.windows == nullptr;
  const bool windows = input.columns.windows != nullptr && input.rows.windows != nullptr &&
                       input.columns.weights != nullptr && input.rows.weights != nullptr;
  bool whole = (taps || windows) && input.levels != nullptr;
  for (int i = 0; i < planes; ++i) whole = whole && input.planes[i] != nullptr;
  return inside && whole;
}

}  // namespace

cudaError_t fill_frame_input(const FrameInput& input, void* image, FloatType type, ImageOrder order,
                             const LaunchOptions& options) {
  if (input.input_width == 0 || input.input_height == 0) return cudaSuccess;
  if (!is_covered(input)) return cudaErrorInvalidValue;
  return with_float_type(type, [&]<class T>() {
    switch (input.format) {
      case FrameFormat::kRgb24:
        return launch_frame_input<T, FrameFormat::kRgb24>(input, image, order, options);
      case FrameFormat::kYuv420:
        return launch_frame_input<T, FrameFormat::kYuv420>(input, image, order, options);
      default: return launch_frame_input<T, FrameFormat::kNv12>(input, image, order, options);
    }
  });
}

}  // namespace hone::device::cuda
