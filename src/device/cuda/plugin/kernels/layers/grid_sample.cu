// See grid_sample.hpp. Source: ONNX's specification of GridSample (opset 22).
#include "device/cuda/plugin/kernels/layers/grid_sample.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"

namespace hone::device::cuda {
namespace {

/// Outside any image, yet safe to convert to an integer.
constexpr double kFarOutside = -1e15;

/// The pixels along one axis that a point reads; index -1 reads none.
struct Taps {
  int count;
  int64_t index[4];
  float weight[4];
};

__device__ __forceinline__ double clamped(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

/// Mirrors x at the borders until it lies between them.
__device__ __forceinline__ double reflected(double x, int64_t size, bool align_corners) {
  const double low = align_corners ? 0.0 : -0.5;
  const double span = static_cast<double>(align_corners ? size - 1 : size);
  if (span == 0.0) return 0.0;
  const double distance = fmod(fabs(x - low), 2 * span);
  return low + (distance > span ? 2 * span - distance : distance);
}

/// Applies the padding mode to the position x.
__device__ __forceinline__ double placed(double x, int64_t size, const GridSampleSize& sampled) {
  if (sampled.padding == SamplePadding::kZeros) return fabs(x) < -kFarOutside ? x : kFarOutside;
  if (sampled.padding == SamplePadding::kReflection) x = reflected(x, size, sampled.align_corners);
  if (x != x) return 0.0;
  return sampled.padding == SamplePadding::kBorder ? clamped(x, 0.0, static_cast<double>(size - 1)) : x;
}

__device__ __forceinline__ int64_t index_of(double x, int64_t size, const GridSampleSize& sampled) {
  const double at = placed(x, size, sampled);
  if (sampled.padding == SamplePadding::kZeros && (at < 0 || at >= static_cast<double>(size))) return -1;
  return static_cast<int64_t>(clamped(rint(at), 0.0, static_cast<double>(size - 1)));
}

/// Source: R. Keys, "Cubic convolution interpolation for digital image processing", 1981, with a = -0.75.
__device__ __forceinline__ double cubic_weight(double distance) {
  constexpr double kA = -0.75;
  const double d = fabs(distance);
  if (d <= 1) return ((kA + 2) * d - (kA + 3)) * d * d + 1;
  return d < 2 ? ((d - 5) * d + 8) * d * kA - 4 * kA : 0.0;
}

__device__ __forceinline__ Taps taps_of(const GridSampleSize& sampled, int64_t size, float coordinate) {
  const auto length = static_cast<double>(size);
  const double n = coordinate;
  double x = sampled.align_corners ? (n + 1) / 2 * (length - 1) : ((n + 1) * length - 1) / 2;
  Taps taps{};
  if (sampled.mode == SampleMode::kNearest) {
    taps.count = 1;
    taps.index[0] = index_of(rint(x), size, sampled);
    taps.weight[0] = 1.0f;
    return taps;
  }
  const bool cubic = sampled.mode == SampleMode::kCubic;
  // Padding moves the sampled point, except for the cubic filter, which pads each of its four pixels.
  if (!cubic) x = placed(x, size, sampled);
  const double first = floor(x) - (cubic ? 1 : 0);
  taps.count = cubic ? 4 : 2;
  for (int k = 0; k < taps.count; ++k) {
    const double distance = first + k - x;
    taps.index[k] = index_of(first + k, size, sampled);
    taps.weight[k] = static_cast<float>(cubic ? cubic_weight(distance) : 1 - fabs(distance));
  }
  return taps;
}

__device__ __forceinline__ Taps only_pixel() {
  Taps taps{};
  taps.count = 1;
  taps.weight[0] = 1.0f;
  return taps;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    grid_sample_kernel(const T* input, const float* grid, T* output, bool last,
                       const __grid_constant__ GridSampleSize size, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const int64_t pixels = size.input[0] * size.input[1] * size.input[2];
  const int64_t count = size.batch * size.channels * size.points;
  for (int64_t i = thread_index(); i < count; i += grid_threads()) {
    const int64_t c = last ? i % size.channels : i / size.points % size.channels;
    const int64_t point = last ? i / size.channels % size.points : i % size.points;
    const int64_t n = i / size.channels / size.points;
    const float* at = grid + (n * size.points + point) * size.axes;
    const Taps x = taps_of(size, size.input[2], at[0]);
    const Taps y = size.axes > 1 ? taps_of(size, size.input[1], at[1]) : only_pixel();
    const Taps z = size.axes > 2 ? taps_of(size, size.input[0], at[2]) : only_pixel();
    const T* from = input + n * size.channels * pixels + (last ? c : c * pixels);
    const int64_t step = last ? size.channels : 1;
    float sum = 0.0f;
    for (int d = 0; d < z.count; ++d) {
      for (int r = 0; r < y.count; ++r) {
        if (z.index[d] < 0 || y.index[r] < 0) continue;
        const int64_t row = (z.index[d] * size.input[1] + y.index[r]) * size.input[2];
        const float weight = z.weight[d] * y.weight[r];
        for (int s = 0; s < x.count; ++s) {
          if (x.index[s] >= 0)
            sum = fmaf(weight * x.weight[s], to_float(from[(row + x.index[s]) * step]), sum);
        }
      }
    }
    output[i] = from_float<T>(sum);
  }
}

}  // namespace

cudaError_t grid_sample(const void* input, const float* grid, void* output, FloatType type, ImageOrder order,
                        const GridSampleSize& size, const LaunchOptions& options) {
  if (size.axes < 1 || size.axes > 3) return cudaErrorInvalidValue;
  return with_float_type(type, [&]<class T>() {
    return launch(grid_sample_kernel<T>, grid_for(size.batch * size.channels * size.points), kThreads,
                  options, static_cast<const T*>(input), grid, static_cast<T*>(output),
                  order == ImageOrder::kChannelsLast, size);
  });
}

}  // namespace hone::device::cuda
