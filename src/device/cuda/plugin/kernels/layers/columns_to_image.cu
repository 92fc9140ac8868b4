// See columns_to_image.hpp. Each thread sums one pixel, so that no two threads write to the same place.
#include "device/cuda/plugin/kernels/layers/columns_to_image.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/launch.cuh"

namespace hone::device::cuda {
namespace {

/// The index along an axis of the block whose element `tap` is on pixel `at`, or -1 if there is none.
__device__ __forceinline__ int64_t place_of(const ColumnsToImage& size, int axis, int64_t at, int64_t tap) {
  const int64_t begin = at + size.pads[axis] - tap * size.dilations[axis];
  if (begin < 0 || begin % size.strides[axis] != 0) return -1;
  const int64_t place = begin / size.strides[axis];
  return place < size.places[axis] ? place : -1;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    image_kernel(const T* columns, T* image, const __grid_constant__ ColumnsToImage size,
                 KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const int64_t pixels = size.image[0] * size.image[1] * size.image[2];
  const int64_t places = size.places[0] * size.places[1] * size.places[2];
  const int64_t taps = size.block[0] * size.block[1] * size.block[2];
  for (int64_t i = thread_index(); i < size.planes * pixels; i += grid_threads()) {
    const int64_t plane = i / pixels;
    const int64_t pixel = i % pixels;
    const int64_t at[] = {pixel / (size.image[1] * size.image[2]), pixel / size.image[2] % size.image[1],
                          pixel % size.image[2]};
    const T* const from = columns + plane * taps * places;
    float sum = 0;
    for (int64_t a = 0; a < size.block[0]; ++a) {
      const int64_t slice = place_of(size, 0, at[0], a);
      if (slice < 0) continue;
      for (int64_t b = 0; b < size.block[1]; ++b) {
        const int64_t row = place_of(size, 1, at[1], b);
        if (row < 0) continue;
        for (int64_t c = 0; c < size.block[2]; ++c) {
          const int64_t column = place_of(size, 2, at[2], c);
          if (column < 0) continue;
          const int64_t tap = (a * size.block[1] + b) * size.block[2] + c;
          sum += to_float(from[tap * places + (slice * size.places[1] + row) * size.places[2] + column]);
        }
      }
    }
    image[i] = from_float<T>(sum);
  }
}

}  // namespace

cudaError_t columns_to_image(const void* columns, void* image, FloatType type, const ColumnsToImage& size,
                             const LaunchOptions& options) {
  const int64_t pixels = size.image[0] * size.image[1] * size.image[2];
  return with_float_type(type, [&]<class T>() {
    return launch(image_kernel<T>, grid_for(size.planes * pixels), kThreads, options,
                  static_cast<const T*>(columns), static_cast<T*>(image), size);
  });
}

}  // namespace hone::device::cuda
