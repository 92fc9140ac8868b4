// Folds of contiguous rows and of neighbouring columns of floats, compiled for several instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone::device::cpu {

enum class Fold : uint8_t { kSum, kSumOfSquares, kSumOfAbsolutes, kMax, kMin, kProduct };

/// The value of a fold of no elements.
float fold_start(Fold fold);
/// Both parts' folds as one.
float join_folds(Fold fold, float a, float b);
/// All n elements; a NaN among them makes the result one. Sums are carried from one block of some thousand
/// elements to the next in double.
float fold_row(Fold fold, const float* x, size_t n);
/// into[j] = into[j] folded with x[r * stride + j] for r < rows, j < n.
void fold_columns(Fold fold, const float* x, size_t stride, size_t rows, float* into, size_t n);

/// y[i] = e^(x[i] - shift); the sum. y may be x, or null where only the sum is wanted.
float exp_row(const float* x, float shift, float* y, size_t n);
/// y[j] = e^(x[j] - shifts[j]), added to sums[j].
void exp_columns(const float* x, const float* shifts, float* y, float* sums, size_t n);

/// Sum of (x[i] - mean)^2.
float fold_deviations(const float* x, float mean, size_t n);
/// y[i] = x[i] * scale + shift.
void scale_row(const float* x, float scale, float shift, float* y, size_t n);
/// y[i] = (x[i] - mean) * scale * scales[i] + shifts[i]; shifts may be null.
void normalize_row(const float* x, float mean, float scale, const float* scales, const float* shifts,
                   float* y, size_t n);
/// Rows of up to this many elements are short.
inline constexpr size_t kShortRow = 256;
/// Normalizes short rows that lie next to each other to mean 0 and variance 1, and applies scales and shifts,
/// one for each element: y[i] = (x[i] - mean) / sqrt(variance + epsilon) * scales[i] + shifts[i]. `shifts`
/// may be null; `means` and the reciprocals in `deviations`, one a row, are written if they are not null.
void normalize_short_rows(const float* x, size_t rows, size_t n, float epsilon, const float* scales,
                          const float* shifts, float* y, float* means, float* deviations);
/// y[j] = x[j] * scales[j].
void scale_columns(const float* x, const float* scales, float* y, size_t n);
/// y[j] = x[j] - shifts[j].
void shift_columns(const float* x, const float* shifts, float* y, size_t n);
/// Replaces best[j] and its place by x[j] and `index` where x[j] comes first (NaN before all). `largest`:
/// larger ones come first.
void extreme_columns(const float* x, int32_t index, bool largest, bool last, float* best, int32_t* at,
                     size_t n);

}  // namespace hone::device::cpu
