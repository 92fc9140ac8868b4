// See channel_moments.hpp.
#include "device/cpu/channel_moments.hpp"

#include <algorithm>

#include "device/cpu/clones.hpp"
#include "device/cpu/reduction_math.hpp"

namespace hone::device::cpu {
namespace {

/// Columns whose sums stay in registers while the rows pass by.
constexpr size_t kColumns = 16;

/// Several sums a column, so that additions do not wait for each other.
HONE_INLINE void measure_block(const float* x, size_t rows, size_t stride, float* means, float* squares) {
  float sums[4][kColumns] = {};
  size_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    for (size_t i = 0; i < 4; ++i) {
      for (size_t c = 0; c < kColumns; ++c) sums[i][c] += x[(row + i) * stride + c];
    }
  }
  for (; row < rows; ++row) {
    for (size_t c = 0; c < kColumns; ++c) sums[0][c] += x[row * stride + c];
  }
  float middle[kColumns];
  const float count = static_cast<float>(rows);
  for (size_t c = 0; c < kColumns; ++c) {
    middle[c] = ((sums[0][c] + sums[1][c]) + (sums[2][c] + sums[3][c])) / count;
    means[c] = middle[c];
    for (auto& sum : sums) sum[c] = 0;
  }
  for (row = 0; row + 4 <= rows; row += 4) {
    for (size_t i = 0; i < 4; ++i) {
      for (size_t c = 0; c < kColumns; ++c) {
        const float difference = x[(row + i) * stride + c] - middle[c];
        sums[i][c] += difference * difference;
      }
    }
  }
  for (; row < rows; ++row) {
    for (size_t c = 0; c < kColumns; ++c) {
      const float difference = x[row * stride + c] - middle[c];
      sums[0][c] += difference * difference;
    }
  }
  for (size_t c = 0; c < kColumns; ++c) squares[c] = (sums[0][c] + sums[1][c]) + (sums[2][c] + sums[3][c]);
}

HONE_INLINE void measure_column(const float* x, size_t rows, size_t stride, float& mean, float& squares) {
  float sum = 0;
  for (size_t row = 0; row < rows; ++row) sum += x[row * stride];
  mean = sum / static_cast<float>(rows);
  squares = 0;
  for (size_t row = 0; row < rows; ++row) squares += (x[row * stride] - mean) * (x[row * stride] - mean);
}

HONE_CLONES void measure_columns(const float* x, size_t rows, size_t lanes, float* means, float* squares) {
  size_t c = 0;
  for (; c + kColumns <= lanes; c += kColumns) measure_block(x + c, rows, lanes, means + c, squares + c);
  for (; c < lanes; ++c) measure_column(x + c, rows, lanes, means[c], squares[c]);
}

HONE_CLONES void scale_blocks(const float* x, size_t rows, const float* scales, const float* shifts,
                              float* y) {
  for (size_t row = 0; row < rows; ++row) {
    for (size_t c = 0; c < kColumns; ++c)
      y[row * kColumns + c] = x[row * kColumns + c] * scales[c] + shifts[c];
  }
}

HONE_CLONES void scale_rows(const float* x, size_t rows, size_t lanes, const float* scales,
                            const float* shifts, float* y) {
  for (size_t row = 0; row < rows; ++row) {
#pragma omp simd
    for (size_t c = 0; c < lanes; ++c) y[row * lanes + c] = x[row * lanes + c] * scales[c] + shifts[c];
  }
}

}  // namespace

void measure_channels(const float* x, size_t rows, size_t lanes, float* means, float* squares) {
  if (lanes == 1) {
    *means = fold_row(Fold::kSum, x, rows) / static_cast<float>(rows);
    *squares = fold_deviations(x, *means, rows);
    return;
  }
  measure_columns(x, rows, lanes, means, squares);
}

void scale_channels(const float* x, size_t rows, size_t lanes, const float* scales, const float* shifts,
                    float* y) {
  if (lanes == 1) {
    scale_row(x, *scales, *shifts, y, rows);
  } else if (lanes == kColumns) {
    scale_blocks(x, rows, scales, shifts, y);
  } else {
    scale_rows(x, rows, lanes, scales, shifts, y);
  }
}

}  // namespace hone::device::cpu
