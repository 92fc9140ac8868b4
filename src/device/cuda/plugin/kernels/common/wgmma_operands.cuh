// Descriptors and coordinates of operands for wgmma and for copies by tensor map. PTX ISA 9.0, 9.7.15.5.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"

namespace hone::device::cuda::ptx {

/// The corner of the window of a column's first pixel, in image `n`.
struct WindowCorner {
  int w;
  int h;
  int n;
};

/// Descriptor of a matrix in shared memory with rows of 128 bytes and the 128-byte swizzle; each group of
/// eight rows starts 1024 bytes after the previous one. Since the swizzle applies to addresses, a matrix may
/// begin at any row.
HONE_HOST_DEVICE uint64_t matrix_descriptor(uint32_t address) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62;
  constexpr uint64_t kEightRows = uint64_t{1024 >> 4} << 32;
  return kSwizzle128 | kEightRows | uint64_t{1} << 16 | ((address & 0x3ffff) >> 4);
}

/// Elements of a left matrix of 64 rows and a depth of 16 in registers: 8 in each of 128 threads.
inline constexpr size_t kLeftElements = 64 * 16;

/// The index of an element if each thread's elements are stored together. Register 2 i + h holds row lane / 4
/// + 8 h of a warp's 16, in columns 8 i + lane % 4 * 2 and the next.
HONE_HOST_DEVICE size_t left_place(size_t row, size_t column) {
  const size_t thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
  return thread * 8 + column / 8 * 4 + row % 16 / 8 * 2 + column % 2;
}

/// Descriptor of a matrix without swizzling; `address` is a multiple of 16. Each block of 8 rows by 16 bytes
/// takes 128 contiguous bytes. The next 16 bytes of the same rows are `along_depth` bytes further, the next 8
/// rows `along_rows` bytes further.
HONE_HOST_DEVICE uint64_t plain_descriptor(uint32_t address, int along_depth, int along_rows) {
  return uint64_t{static_cast<uint32_t>(along_rows) >> 4} << 32 |
         uint64_t{static_cast<uint32_t>(along_depth) >> 4} << 16 | ((address & 0x3ffff) >> 4);
}

}  // namespace hone::device::cuda::ptx
