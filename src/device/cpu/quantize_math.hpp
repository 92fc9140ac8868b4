// Loops between floats and 8-bit integers with one scale, compiled for several instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone::device::cpu {

/// y[i] = round(x[i] / scale) + zero_point, halves to even, saturated; NaN becomes the lowest value.
void quantize_row(const float* x, float scale, float zero_point, uint8_t* y, size_t n);
void quantize_row(const float* x, float scale, float zero_point, int8_t* y, size_t n);
/// y[i] = (x[i] - zero_point) * scale.
void dequantize_row(const uint8_t* x, float scale, float zero_point, float* y, size_t n);
void dequantize_row(const int8_t* x, float scale, float zero_point, float* y, size_t n);
void dequantize_row(const int32_t* x, float scale, int32_t zero_point, float* y, size_t n);

}  // namespace hone::device::cpu
