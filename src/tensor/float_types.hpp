// 16-bit floating-point storage types. Arithmetic is done in float; conversions round to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace hone::tensor {

/// bfloat16: the upper half of an IEEE binary32.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  BFloat16(float value) {  // NOLINT(google-explicit-constructor): behaves as an arithmetic type
    uint32_t word = std::bit_cast<uint32_t>(value);
    if ((word & 0x7fffffffu) > 0x7f800000u) {
      bits = static_cast<uint16_t>((word >> 16) | 0x40u);  // keep NaN a NaN
      return;
    }
    word += 0x7fffu + ((word >> 16) & 1u);
    bits = static_cast<uint16_t>(word >> 16);
  }
  operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }  // NOLINT
};

/// IEEE binary16.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  Half(float value);       // NOLINT(google-explicit-constructor)
  operator float() const;  // NOLINT(google-explicit-constructor)
};

}  // namespace hone::tensor
