// The rule of antialiased resizing along one axis, for all that resize: the host and devices.
#pragma once

#include <cstdint>
#include <vector>

namespace hone::importer {

/// Fraction bits of a weight; a sum of 255 times all weights of a window has room in 32 bits.
inline constexpr int kResizeBits = 22;

/// Source pixels that make one target pixel: `count` from `first` on, with the weights from `weights` on.
struct ResizeWindow {
  int64_t first = 0;
  int64_t count = 0;
  int64_t weights = 0;
};

struct ResizeWindows {
  std::vector<ResizeWindow> windows;  ///< one for each target pixel
  std::vector<int32_t> weights;       ///< times 2^22
};

/// A triangle that is as wide as the reduction, its weights rounded to 22 bits, as Pillow has them.
ResizeWindows resize_windows(int64_t from, int64_t to);

}  // namespace hone::importer
