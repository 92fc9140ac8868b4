// Integer division that rounds up.
#pragma once

#include <type_traits>

namespace hone::device::cuda {

/// `a` / `b`, rounded up, for `a` >= 0 and `b` > 0.
template <class A, class B>
constexpr std::common_type_t<A, B> ceil_divide(A a, B b) {
  return (a + b - 1) / b;
}

}  // namespace hone::device::cuda
