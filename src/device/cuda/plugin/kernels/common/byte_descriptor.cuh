// Shared-memory descriptors of byte operands for wgmma. PTX ISA 9.0, 9.7.15.5.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace hone::device::cuda::ptx {

/// Descriptor of a matrix in shared memory whose rows have kRowBytes (128 or 64) bytes, with the swizzle of
/// that width. Groups of eight rows follow each other without gaps.
template <int kRowBytes>
HONE_HOST_DEVICE uint64_t byte_descriptor(uint32_t address) {
  static_assert(kRowBytes == 128 || kRowBytes == 64);
  constexpr uint64_t kSwizzle = uint64_t{kRowBytes == 128 ? 1 : 2} << 62;
  constexpr uint64_t kEightRows = uint64_t{8 * kRowBytes >> 4} << 32;
  return kSwizzle | kEightRows | uint64_t{1} << 16 | ((address & 0x3ffff) >> 4);
}

}  // namespace hone::device::cuda::ptx
