// See reduction_math.hpp. Four accumulators hide the latency of an addition.
#include "device/cpu/reduction_math.hpp"

#include <algorithm>
#include <limits>

#include "device/cpu/clones.hpp"
#include "device/cpu/vector_math.hpp"

namespace hone::device::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr size_t kBlock = 4096;

#define HONE_FOLD_SUM(name, expression)                                                                  \
  HONE_CLONES float name##_block(const float* x, size_t n) {                                             \
    const size_t quarter = n / 4;                                                                        \
    float a = 0, b = 0, c = 0, d = 0;                                                                    \
    const auto map = [](float v) __attribute__((always_inline)) { return expression; };                  \
    _Pragma("omp simd reduction(+ : a, b, c, d)") for (size_t i = 0; i < quarter; ++i) {                 \
      a += map(x[i]);                                                                                    \
      b += map(x[i + quarter]);                                                                          \
      c += map(x[i + 2 * quarter]);                                                                      \
      d += map(x[i + 3 * quarter]);                                                                      \
    }                                                                                                    \
    for (size_t i = 4 * quarter; i < n; ++i) a += map(x[i]);                                             \
    return (a + b) + (c + d);                                                                            \
  }                                                                                                      \
  HONE_CLONES void name##_columns(const float* x, size_t stride, size_t rows, float* __restrict into,    \
                                  size_t n) {                                                            \
    const auto map = [](float v) __attribute__((always_inline)) { return expression; };                  \
    size_t r = 0;                                                                                        \
    for (; r + 4 <= rows; r += 4, x += 4 * stride) {                                                     \
      for (size_t j = 0; j < n; ++j) {                                                                   \
        into[j] += (map(x[j]) + map(x[j + stride])) + (map(x[j + 2 * stride]) + map(x[j + 3 * stride])); \
      }                                                                                                  \
    }                                                                                                    \
    for (; r < rows; ++r, x += stride) {                                                                 \
      for (size_t j = 0; j < n; ++j) into[j] += map(x[j]);                                               \
    }                                                                                                    \
  }

HONE_FOLD_SUM(sum, v)
HONE_FOLD_SUM(square_sum, v* v)
HONE_FOLD_SUM(absolute_sum, __builtin_fabsf(v))

#define HONE_PRAGMA(text) _Pragma(#text)
#define HONE_FOLD_EXTREME(name, start, operation, before)                                                  \
  HONE_CLONES float name##_block(const float* x, size_t n) {                                               \
    const size_t half = n / 2;                                                                             \
    float a = start, b = start;                                                                            \
    int missing = 0;                                                                                       \
    HONE_PRAGMA(omp simd reduction(operation : a, b) reduction(| : missing))                               \
    for (size_t i = 0; i < half; ++i) {                                                                    \
      const float v = x[i];                                                                                \
      const float w = x[i + half];                                                                         \
      a = v before a ? v : a;                                                                              \
      b = w before b ? w : b;                                                                              \
      missing |= v != v || w != w;                                                                         \
    }                                                                                                      \
    for (size_t i = 2 * half; i < n; ++i) {                                                                \
      a = x[i] before a ? x[i] : a;                                                                        \
      missing |= x[i] != x[i];                                                                             \
    }                                                                                                      \
    if (missing != 0) return std::numeric_limits<float>::quiet_NaN();                                      \
    return a before b ? a : b;                                                                             \
  }                                                                                                        \
  HONE_CLONES void name##_columns(const float* x, size_t stride, size_t rows, float* __restrict into,      \
                                  size_t n) {                                                              \
    for (size_t r = 0; r < rows; ++r, x += stride) {                                                       \
      for (size_t j = 0; j < n; ++j) into[j] = into[j] before x[j] || into[j] != into[j] ? into[j] : x[j]; \
    }                                                                                                      \
  }

HONE_FOLD_EXTREME(maximum, -kInfinity, max, >)
HONE_FOLD_EXTREME(minimum, kInfinity, min, <)

HONE_CLONES float product_block(const float* x, size_t n) {
  float result = 1;
#pragma omp simd reduction(* : result)
  for (size_t i = 0; i < n; ++i) result *= x[i];
  return result;
}

HONE_CLONES void product_columns(const float* x, size_t stride, size_t rows, float* __restrict into,
                                 size_t n) {
  for (size_t r = 0; r < rows; ++r, x += stride) {
    for (size_t j = 0; j < n; ++j) into[j] *= x[j];
  }
}

HONE_CLONES float deviation_block(const float* x, float mean, size_t n) {
  float a = 0, b = 0;
  const size_t half = n / 2;
#pragma omp simd reduction(+ : a, b)
  for (size_t i = 0; i < half; ++i) {
    const float v = x[i] - mean;
    const float w = x[i + half] - mean;
    a += v * v;
    b += w * w;
  }
  for (size_t i = 2 * half; i < n; ++i) a += (x[i] - mean) * (x[i] - mean);
  return a + b;
}

HONE_CLONES float exp_block(const float* x, float shift, float* y, size_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; ++i) {
    const float v = vector_exp(x[i] - shift);
    y[i] = v;
    sum += v;
  }
  return sum;
}

HONE_CLONES float exp_sum_block(const float* x, float shift, size_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; ++i) sum += vector_exp(x[i] - shift);
  return sum;
}

/// A sum over the row's blocks.
template <class F>
float in_blocks(size_t n, F&& f) {
  if (n <= kBlock) return f(size_t{0}, n);
  double sum = 0;
  for (size_t i = 0; i < n; i += kBlock) sum += static_cast<double>(f(i, std::min(kBlock, n - i)));
  return static_cast<float>(sum);
}

}  // namespace

float fold_start(Fold fold) {
  switch (fold) {
    case Fold::kMax: return -kInfinity;
    case Fold::kMin: return kInfinity;
    case Fold::kProduct: return 1;
    default: return 0;
  }
}

float join_folds(Fold fold, float a, float b) {
  switch (fold) {
    case Fold::kMax: return a > b || a != a ? a : b;
    case Fold::kMin: return a < b || a != a ? a : b;
    case Fold::kProduct: return a * b;
    default: return a + b;
  }
}

float fold_row(Fold fold, const float* x, size_t n) {
  switch (fold) {
    case Fold::kSum: return in_blocks(n, [&](size_t i, size_t m) { return sum_block(x + i, m); });
    case Fold::kSumOfSquares:
      return in_blocks(n, [&](size_t i, size_t m) { return square_sum_block(x + i, m); });
    case Fold::kSumOfAbsolutes:
      return in_blocks(n, [&](size_t i, size_t m) { return absolute_sum_block(x + i, m); });
    case Fold::kMax: return maximum_block(x, n);
    case Fold::kMin: return minimum_block(x, n);
    case Fold::kProduct: return product_block(x, n);
  }
  return 0;
}

void fold_columns(Fold fold, const float* x, size_t stride, size_t rows, float* into, size_t n) {
  switch (fold) {
    case Fold::kSum: return sum_columns(x, stride, rows, into, n);
    case Fold::kSumOfSquares: return square_sum_columns(x, stride, rows, into, n);
    case Fold::kSumOfAbsolutes: return absolute_sum_columns(x, stride, rows, into, n);
    case Fold::kMax: return maximum_columns(x, stride, rows, into, n);
    case Fold::kMin: return minimum_columns(x, stride, rows, into, n);
    case Fold::kProduct: return product_columns(x, stride, rows, into, n);
  }
}

float exp_row(const float* x, float shift, float* y, size_t n) {
  return in_blocks(n, [&](size_t i, size_t m) {
    return y == nullptr ? exp_sum_block(x + i, shift, m) : exp_block(x + i, shift, y + i, m);
  });
}

float fold_deviations(const float* x, float mean, size_t n) {
  return in_blocks(n, [&](size_t i, size_t m) { return deviation_block(x + i, mean, m); });
}

HONE_CLONES void exp_columns(const float* x, const float* __restrict shifts, float* y, float* __restrict sums,
                             size_t n) {
#pragma omp simd
  for (size_t j = 0; j < n; ++j) {
    const float v = vector_exp(x[j] - shifts[j]);
    y[j] = v;
    sums[j] += v;
  }
}

HONE_CLONES void scale_row(const float* x, float scale, float shift, float* y, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) y[i] = x[i] * scale + shift;
}

HONE_CLONES void normalize_row(const float* x, float mean, float scale, const float* scales,
                               const float* shifts, float* y, size_t n) {
  if (shifts == nullptr) {
#pragma omp simd
    for (size_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * scales[i];
    return;
  }
#pragma omp simd
  for (size_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * scales[i] + shifts[i];
}

// One function holds all rows: calls for each row, and folds in quarters, take longer than such a row itself.
HONE_CLONES void normalize_short_rows(const float* x, size_t rows, size_t n, float epsilon,
                                      const float* scales, const float* shifts, float* y, float* means,
                                      float* deviations) {
  const float count = static_cast<float>(n);
  for (size_t row = 0; row < rows; ++row, x += n, y += n) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; ++i) sum += x[i];
    const float mean = sum / count;
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (size_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const float scale = 1 / __builtin_sqrtf(squares / count + epsilon);
    if (means != nullptr) means[row] = mean;
    if (deviations != nullptr) deviations[row] = scale;
    if (shifts == nullptr) {
#pragma omp simd
      for (size_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * scales[i];
    } else {
#pragma omp simd
      for (size_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * scales[i] + shifts[i];
    }
  }
}

HONE_CLONES void scale_columns(const float* x, const float* scales, float* y, size_t n) {
#pragma omp simd
  for (size_t j = 0; j < n; ++j) y[j] = x[j] * scales[j];
}

HONE_CLONES void shift_columns(const float* x, const float* shifts, float* y, size_t n) {
#pragma omp simd
  for (size_t j = 0; j < n; ++j) y[j] = x[j] - shifts[j];
}

HONE_CLONES void extreme_columns(const float* x, int32_t index, bool largest, bool last,
                                 float* __restrict best, int32_t* __restrict at, size_t n) {
  // Negated, the smallest is the largest.
  const float sign = largest ? 1.0f : -1.0f;
  const int equal_wins = last ? 1 : 0;
  for (size_t j = 0; j < n; ++j) {
    const float v = x[j] * sign;
    const float w = best[j];
    const int v_missing = v != v ? 1 : 0;
    const int w_missing = w != w ? 1 : 0;
    const int before = (v > w ? 1 : 0) | (v_missing & ~w_missing);
    const int same = (v == w ? 1 : 0) | (v_missing & w_missing);
    const bool wins = (before | (same & equal_wins)) != 0;
    best[j] = wins ? v : w;
    at[j] = wins ? index : at[j];
  }
}

}  // namespace hone::device::cpu
