// See quantize_math.hpp.
#include "device/cpu/quantize_math.hpp"

#include <limits>

#include "device/cpu/clones.hpp"

namespace hone::device::cpu {
namespace {

template <class T>
HONE_INLINE void quantize(const float* __restrict x, float scale, float zero_point, T* __restrict y,
                          size_t n) {
  constexpr auto kLowest = static_cast<float>(std::numeric_limits<T>::lowest());
  constexpr auto kHighest = static_cast<float>(std::numeric_limits<T>::max());
  for (size_t i = 0; i < n; ++i) {
    float v = __builtin_rintf(x[i] / scale) + zero_point;
    v = v > kLowest ? v : kLowest;
    v = v < kHighest ? v : kHighest;
    y[i] = static_cast<T>(static_cast<int32_t>(v));
  }
}

template <class T>
HONE_INLINE void dequantize(const T* __restrict x, float scale, float zero_point, float* __restrict y,
                            size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = (static_cast<float>(x[i]) - zero_point) * scale;
}

}  // namespace

HONE_CLONES void quantize_row(const float* x, float scale, float zero_point, uint8_t* y, size_t n) {
  quantize(x, scale, zero_point, y, n);
}
HONE_CLONES void quantize_row(const float* x, float scale, float zero_point, int8_t* y, size_t n) {
  quantize(x, scale, zero_point, y, n);
}
HONE_CLONES void dequantize_row(const uint8_t* x, float scale, float zero_point, float* y, size_t n) {
  dequantize(x, scale, zero_point, y, n);
}
HONE_CLONES void dequantize_row(const int8_t* x, float scale, float zero_point, float* y, size_t n) {
  dequantize(x, scale, zero_point, y, n);
}
HONE_CLONES void dequantize_row(const int32_t* x, float scale, int32_t zero_point, float* y, size_t n) {
  // Beyond 2^24 a float holds no integer exactly: the difference is taken in double.
  for (size_t i = 0; i < n; ++i)
    y[i] = static_cast<float>((static_cast<double>(x[i]) - static_cast<double>(zero_point)) *
                              static_cast<double>(scale));
}

}  // namespace hone::device::cpu
