// Division of 31-bit numbers by a number that the host knows: one multiplication on the device.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace hone::device::cuda {

/// Granlund and Montgomery, "Division by Invariant Integers using Multiplication" (1994), for 0 <= n < 2^31.
struct FastDivisor {
  uint32_t divisor = 1;
  uint32_t multiplier = 1;
  uint32_t shift = 0;

  FastDivisor() = default;
  explicit FastDivisor(int64_t value) : divisor(static_cast<uint32_t>(value)) {
    while ((uint64_t{1} << shift) < divisor) ++shift;
    multiplier =
        static_cast<uint32_t>(((uint64_t{1} << 32) * ((uint64_t{1} << shift) - divisor)) / divisor + 1);
  }

  HONE_HOST_DEVICE uint32_t divide(uint32_t n) const {
#ifdef __CUDA_ARCH__
    const uint32_t high = __umulhi(n, multiplier);
#else
    const auto high = static_cast<uint32_t>((uint64_t{n} * multiplier) >> 32);
#endif
    return (high + n) >> shift;
  }
};

}  // namespace hone::device::cuda
