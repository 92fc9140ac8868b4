// Converts elements to other types, with a defined result for every value, even if the conversion is
// undefined in C++.
#pragma once

#include <limits>
#include <type_traits>

#include "tensor/float_types.hpp"

namespace hone::tensor {

/// Converts `value` to To:
/// - To bool: true if it differs from zero, as NaN does.
/// - Floating to integer: the fraction is cut off; values outside of To become the nearest limit of To; NaN
///   becomes 0. ONNX and numpy do not define the last two; WebAssembly's trunc_sat and Arm's FCVTZS agree.
/// - Integer to integer: modulo 2^bits.
/// - To a floating type: rounded to nearest; conversions to 16 bits first round to float.
template <class To, class From>
To convert(From value) {
  constexpr bool kFrom16 = std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>;
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (kFrom16) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    using Limits = std::numeric_limits<To>;
    // Both limits are exact or are rounded to a power of two, and To contains all numbers strictly between
    // them.
    constexpr auto kLowest = static_cast<From>(Limits::lowest());
    constexpr auto kHighest = static_cast<From>(Limits::max());
    if (value != value) return To{0};
    if (value <= kLowest) return Limits::lowest();
    return value < kHighest ? static_cast<To>(value) : Limits::max();
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace hone::tensor
