// See roi_align.hpp. Each thread averages one bin of one channel; adjacent threads have adjacent bins.
#include "device/cuda/plugin/kernels/layers/roi_align.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/launch.cuh"

namespace hone::device::cuda {
namespace {

constexpr double kMostSamples = 0x1p28;

/// A region along one axis. It is in double, because rounding would decide the number of samples in a bin.
struct RegionAxis {
  double start;
  double bin;
  double samples;

  __device__ __forceinline__ RegionAxis(const RoiAlign& size, double first, double last, int64_t bins) {
    const double shift = size.half_pixel ? 0.5 : 0.0;
    start = first * size.scale - shift;
    double length = last * size.scale - shift - start;
    if (!size.half_pixel) length = fmax(length, 1.0);
    bin = length / static_cast<double>(bins);
    samples = size.sampling_ratio > 0 ? static_cast<double>(size.sampling_ratio) : fmax(ceil(bin), 0.0);
  }
  __device__ __forceinline__ double position(int64_t output, int64_t sample) const {
    return start + static_cast<double>(output) * bin + (static_cast<double>(sample) + 0.5) * bin / samples;
  }
};

/// The two pixels around a sample along one axis, and the weight of the second.
struct Neighbours {
  int64_t low;
  int64_t high;
  float fraction;
  bool inside;

  __device__ __forceinline__ Neighbours(double x, int64_t size) {
    inside = x >= -1 && x <= static_cast<double>(size);
    x = fmin(fmax(x, 0.0), static_cast<double>(size));
    low = min(static_cast<int64_t>(x), size - 1);
    high = min(low + 1, size - 1);
    fraction = high == low ? 0.0f : static_cast<float>(x - static_cast<double>(low));
  }
};

template <class T>
__device__ __forceinline__ float average(const T* plane, const RoiAlign& size, const RegionAxis& rows,
                                         const RegionAxis& columns, int64_t row_bin, int64_t column_bin) {
  float sum = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(rows.samples); ++i) {
    const Neighbours row(rows.position(row_bin, i), size.height);
    if (!row.inside) continue;
    const T* const upper = plane + row.low * size.width;
    const T* const lower = plane + row.high * size.width;
    for (int64_t j = 0; j < static_cast<int64_t>(columns.samples); ++j) {
      const Neighbours column(columns.position(column_bin, j), size.width);
      if (!column.inside) continue;
      const float above = to_float(upper[column.low]) +
                          column.fraction * (to_float(upper[column.high]) - to_float(upper[column.low]));
      const float below = to_float(lower[column.low]) +
                          column.fraction * (to_float(lower[column.high]) - to_float(lower[column.low]));
      sum += above + row.fraction * (below - above);
    }
  }
  const auto count = static_cast<float>(rows.samples * columns.samples);
  return count == 0.0f ? 0.0f : sum / count;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    roi_align_kernel(const T* map, const float* boxes, const int64_t* images, T* output,
                     const __grid_constant__ RoiAlign size, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const int64_t bins = size.out_height * size.out_width;
  for (int64_t i = thread_index(); i < size.regions * size.channels * bins; i += grid_threads()) {
    const int64_t region = i / (size.channels * bins);
    const int64_t channel = i / bins % size.channels;
    const float* const box = boxes + region * 4;
    const RegionAxis rows(size, box[1], box[3], size.out_height);
    const RegionAxis columns(size, box[0], box[2], size.out_width);
    const int64_t image = images[region];
    const double samples = static_cast<double>(bins) * rows.samples * columns.samples;
    float result = nanf("");
    if (image >= 0 && image < size.batch && samples <= kMostSamples) {
      const T* const plane = map + (image * size.channels + channel) * size.height * size.width;
      result = average(plane, size, rows, columns, i % bins / size.out_width, i % size.out_width);
    }
    output[i] = from_float<T>(result);
  }
}

}  // namespace

cudaError_t roi_align(const void* map, const float* boxes, const int64_t* images, void* output,
                      FloatType type, const RoiAlign& size, const LaunchOptions& options) {
  const int64_t count = size.regions * size.channels * size.out_height * size.out_width;
  return with_float_type(type, [&]<class T>() {
    return launch(roi_align_kernel<T>, grid_for(count), kThreads, options, static_cast<const T*>(map), boxes,
                  images, static_cast<T*>(output), size);
  });
}

}  // namespace hone::device::cuda
