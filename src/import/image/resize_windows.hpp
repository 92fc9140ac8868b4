// The weights of antialiased resizing along one axis, shared by the host and devices.
#pragma once

#include <cstdint>
#include <vector>

namespace hone::importer {

/// Fraction bits of a weight, chosen so that 255 times the sum of a window's weights fits into 32 bits.
inline constexpr int kResizeBits = 22;

/// The source pixels of one target pixel: `count` pixels from index `first`, with weights from index
/// `weights`.
struct ResizeWindow {
  int64_t first = 0;
  int64_t count = 0;
  int64_t weights = 0;
};

struct ResizeWindows {
  std::vector<ResizeWindow> windows;  ///< one for each target pixel
  std::vector<int32_t> weights;       ///< times 2^22
};

/// A triangle whose width grows with the reduction factor, with weights rounded to 22 bits as in Pillow.
ResizeWindows resize_windows(int64_t from, int64_t to);

}  // namespace hone::importer
