// The instructions of wgmma_bytes.cuh by the emulator.
#pragma once

#include <algorithm>
#include <cmath>

#include "device/cuda/plugin/kernels/common/wgmma.cuh"

/// Halves to even, and beyond the range to its ends.
inline int __float2int_rn(float x) {
  return static_cast<int>(std::clamp(std::nearbyint(static_cast<double>(x)), -0x1p31, 0x1p31 - 1));
}

namespace hone::device::cuda::emulator {

/// Starts sums += left * right of a warpgroup, 64 x columns x 32 bytes, both by their descriptors; the right
/// ones are signed.
void multiply_bytes(bool unsigned_left, int columns, int32_t* sums, uint64_t left, uint64_t right);

}  // namespace hone::device::cuda::emulator

namespace hone::device::cuda::ptx {

template <bool kUnsigned, int kN>
void multiply_bytes(int32_t (&d)[kN / 2], uint64_t left, uint64_t right) {
  emulator::multiply_bytes(kUnsigned, kN, d, left, right);
}

inline uint32_t pack_unsigned_bytes(int a, int b, int c, int d) {
  const auto byte = [](int value) { return static_cast<uint32_t>(std::clamp(value, 0, 255)); };
  return byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24;
}

}  // namespace hone::device::cuda::ptx
