// See byte_quantization.hpp.
#include "device/cuda/plugin/kernels/layers/byte_quantization.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"

namespace hone::device::cuda {
namespace {

struct Params {
  float scale;
  float reciprocal;
  int low;  ///< range of the bytes before their zero point is added
  int high;
  int zero_point;
  bool next_waits;
};

/// Products with the reciprocal have an error below 2^-12 if bytes do not saturate. The error matters only
/// near halves; those values are divided.
__device__ __forceinline__ int quantized(const Params& p, float x) {
  constexpr float kNearHalf = 0.5f - 0x1p-11f;
  float quotient = x * p.reciprocal;
  if (fabsf(quotient - rintf(quotient)) > kNearHalf) quotient = __fdiv_rn(x, p.scale);
  const int rounded = __float2int_rn(quotient);  // 0 for NaN
  return min(max(rounded, p.low), p.high) + p.zero_point;
}

template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads)
    quantize_kernel(const T* x, uint8_t* y, int64_t units, const __grid_constant__ Params p,
                    KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel(p.next_waits);
  for (int64_t unit = thread_index(); unit < units; unit += grid_threads()) {
    float numbers[kWidth];
    load_floats<kWidth>(x + unit * kWidth, numbers);
    uint8_t bytes[kWidth];
#pragma unroll
    for (int i = 0; i < kWidth; ++i) bytes[i] = static_cast<uint8_t>(quantized(p, numbers[i]));
    store<kWidth>(y + unit * kWidth, bytes);
  }
}

}  // namespace

cudaError_t quantize_bytes(const void* x, FloatType type, void* y, bool unsigned_y, float scale,
                           int zero_point, int64_t count, const LaunchOptions& options) {
  const int least = unsigned_y ? 0 : -128;
  const Params params{scale,      1 / scale,         least - zero_point, least + 255 - zero_point,
                      zero_point, options.next_waits};
  return with_float_type(type, [&]<class T>() {
    constexpr int kWidth = 16;
    const bool wide = count % kWidth == 0 && is_aligned(x) && is_aligned(y);
    const int64_t units = wide ? count / kWidth : count;
    return launch(wide ? quantize_kernel<T, kWidth> : quantize_kernel<T, 1>, grid_for(units), kThreads,
                  options, static_cast<const T*>(x), static_cast<uint8_t*>(y), units, params);
  });
}

}  // namespace hone::device::cuda
