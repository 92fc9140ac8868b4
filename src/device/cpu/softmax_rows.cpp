// See softmax_rows.hpp.
#include "device/cpu/softmax_rows.hpp"

#include <array>

#include "device/cpu/vector_math.hpp"

namespace hone::device::cpu {
namespace {

/// Partial results beside each other, so that loops over them are vectorised: floats of one AVX-512 register.
constexpr size_t kLanes = 16;

HONE_CLONES void add(float* __restrict x, const float* __restrict y, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] += y[i];
}

HONE_CLONES void add_one(float* x, float y, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] += y;
}

/// NaNs are passed over: their exponentials are NaN again.
HONE_CLONES float largest(const float* x, size_t n) {
  std::array<float, kLanes> lanes;
  lanes.fill(-std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t j = 0; j < kLanes; ++j) lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
  }
  for (; i < n; ++i) lanes[0] = x[i] > lanes[0] ? x[i] : lanes[0];
  float result = lanes[0];
  for (const float lane : lanes) result = lane > result ? lane : result;
  return result;
}

/// x[i] = e^(x[i] - shift); the sum of them.
HONE_CLONES float exponentials(float* x, float shift, size_t n) {
  std::array<float, kLanes> lanes{};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t j = 0; j < kLanes; ++j) {
      x[i + j] = vector_exp(x[i + j] - shift);
      lanes[j] += x[i + j];
    }
  }
  float sum = 0;
  for (; i < n; ++i) {
    x[i] = vector_exp(x[i] - shift);
    sum += x[i];
  }
  for (const float lane : lanes) sum += lane;
  return sum;
}

HONE_CLONES void multiply(float* x, float factor, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] *= factor;
}

}  // namespace

void scale_row(float* x, float factor, size_t n) {
  if (factor != 1.0f) multiply(x, factor, n);
}

void add_to_row(float* x, const float* y, ptrdiff_t stride, size_t n) {
  if (stride == 1) {
    add(x, y, n);
  } else if (stride == 0) {
    add_one(x, *y, n);
  } else {
    for (size_t i = 0; i < n; ++i) x[i] += y[static_cast<ptrdiff_t>(i) * stride];
  }
}

void softmax_row(float* x, size_t n) {
  const float sum = exponentials(x, largest(x, n), n);
  multiply(x, 1.0f / sum, n);
}

}  // namespace hone::device::cpu
