// How wgmma and copies by tensor map are told where their operands lie. PTX ISA 9.0, 9.7.15.5.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"

namespace hone::device::cuda::ptx {

/// The place of the window of the first pixel of a column: its corner in image `n`.
struct WindowCorner {
  int w;
  int h;
  int n;
};

/// Descriptor of a matrix of rows of 128 bytes in shared memory, swizzled by 128 bytes: eight rows lie 1024
/// bytes from the next eight. The address is swizzled, so that a matrix may begin at any row.
HONE_HOST_DEVICE uint64_t matrix_descriptor(uint32_t address) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62;
  constexpr uint64_t kEightRows = uint64_t{1024 >> 4} << 32;
  return kSwizzle128 | kEightRows | uint64_t{1} << 16 | ((address & 0x3ffff) >> 4);
}

/// Elements of 64 rows and 16 of the depth of a left matrix in registers, 8 of them in each of 128 threads.
inline constexpr size_t kLeftElements = 64 * 16;

/// Where one of them lies when each thread's come after the other: row lane / 4 + 8 h of a warp's 16, columns
/// 8 i + lane % 4 * 2 and the next, are register 2 i + h.
HONE_HOST_DEVICE size_t left_place(size_t row, size_t column) {
  const size_t thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
  return thread * 8 + column / 8 * 4 + row % 16 / 8 * 2 + column % 2;
}

/// Descriptor of a matrix without swizzling, at a multiple of 16: 8 rows by 16 bytes lie in 128 bytes, rows
/// one after the other; `along_depth` bytes further are the next 16 bytes of the same rows, `along_rows`
/// bytes further the next 8 rows.
HONE_HOST_DEVICE uint64_t plain_descriptor(uint32_t address, int along_depth, int along_rows) {
  return uint64_t{static_cast<uint32_t>(along_rows) >> 4} << 32 |
         uint64_t{static_cast<uint32_t>(along_depth) >> 4} << 16 | ((address & 0x3ffff) >> 4);
}

}  // namespace hone::device::cuda::ptx
