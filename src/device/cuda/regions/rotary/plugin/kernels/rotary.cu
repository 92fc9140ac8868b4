// See rotary.hpp.
#include "device/cuda/regions/rotary/plugin/kernels/rotary.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"

namespace hone::device::cuda {
namespace {

/// One thread per pair of elements.
template <class T>
__global__ void __launch_bounds__(kThreads)
    rotary_kernel(const __grid_constant__ RotarySize size, const T* x, const T* cosines, const T* sines, T* y,
                  int64_t pairs, bool next_waits, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel(next_waits);
  const int half = size.depth / 2;
  for (int64_t at = thread_index(); at < pairs; at += grid_threads()) {
    const int64_t row = at / half;
    const int64_t column = at % half;
    const int64_t places[3] = {row / size.dims[2] / size.dims[1], row / size.dims[2] % size.dims[1],
                               row % size.dims[2]};
    int64_t cosine = column;
    int64_t sine = column;
    for (int d = 0; d < 3; ++d) {
      cosine += places[d] * size.cosine_strides[d];
      sine += places[d] * size.sine_strides[d];
    }
    const int64_t first = row * size.depth + column;
    const float left = to_float(x[first]);
    const float right = to_float(x[first + half]);
    y[first] = from_float<T>(left * to_float(cosines[cosine]) - right * to_float(sines[sine]));
    y[first + half] =
        from_float<T>(right * to_float(cosines[cosine + half]) + left * to_float(sines[sine + half]));
  }
}

}  // namespace

cudaError_t rotate(const RotarySize& size, const void* x, const void* cosines, const void* sines, void* y,
                   const LaunchOptions& options) {
  const int64_t pairs = size.rows() * (size.depth / 2);
  return with_float_type(size.type, [&]<class T>() {
    return launch(rotary_kernel<T>, grid_for(pairs), kThreads, options, size, static_cast<const T*>(x),
                  static_cast<const T*>(cosines), static_cast<const T*>(sines), static_cast<T*>(y), pairs,
                  options.next_waits);
  });
}

}  // namespace hone::device::cuda
