// Statistics and scaling of rows whose elements are of different channels, compiled for several instruction
// sets.
#pragma once

#include <cstddef>

namespace hone::device::cpu {

/// The mean, and the sum of squared differences from it, of each of the `lanes` columns of x [rows][lanes].
void measure_channels(const float* x, size_t rows, size_t lanes, float* means, float* squares);
/// y[r][c] = x[r][c] * scales[c] + shifts[c]; y may be x.
void scale_channels(const float* x, size_t rows, size_t lanes, const float* scales, const float* shifts,
                    float* y);

}  // namespace hone::device::cpu
