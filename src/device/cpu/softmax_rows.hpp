// Softmax of rows of floats that lie in the cache.
#pragma once

#include <cstddef>

namespace hone::device::cpu {

/// x[i] *= factor.
void scale_row(float* x, float factor, size_t n);
/// x[i] += y[i * stride]; a stride of 0 or 1 is fast.
void add_to_row(float* x, const float* y, ptrdiff_t stride, size_t n);
/// x becomes its softmax. A row of -infinity becomes NaN.
void softmax_row(float* x, size_t n);

}  // namespace hone::device::cpu
