// Arithmetic on sizes from files: every overflow throws an Error instead of wrapping around.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "base/error.hpp"

namespace hone::base {

/// a * b; bad input when it overflows.
template <class T>
T checked_mul(T a, T b) {
  T result;
  if (__builtin_mul_overflow(a, b, &result)) fail_bad_input("size {} x {} overflows", a, b);
  return result;
}

/// a + b; bad input when it overflows.
template <class T>
T checked_add(T a, T b) {
  T result;
  if (__builtin_add_overflow(a, b, &result)) fail_bad_input("size {} + {} overflows", a, b);
  return result;
}

/// Converts the value to another integer type; bad input if it does not fit.
template <class To, class From>
To checked_cast(From value) {
  static_assert(std::is_integral_v<To> && std::is_integral_v<From>);
  if (!std::in_range<To>(value)) fail_bad_input("value {} is out of range", value);
  return static_cast<To>(value);
}

}  // namespace hone::base
