// Rows of frames and images for inner loops: converted to red, green and blue, and resized.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "media/planar.hpp"

namespace hone::media {

using RgbRow = std::array<uint8_t*, 3>;

/// Converts a frame row by row. Rows that share chroma should be read one after the other.
class RgbRows {
 public:
  explicit RgbRows(const Frame& frame);
  /// Writes red, green and blue of row y, as wide as the frame.
  void read(int64_t y, const RgbRow& out);

 private:
  void read_yuv(int64_t y, const RgbRow& out);

  const Frame& frame_;
  RgbCoefficients by_;
  int64_t rows_share_ = 1;
  bool is_narrow_ = false;
  int64_t chroma_row_ = -1;
  std::vector<uint8_t> wide_u_;
  std::vector<uint8_t> wide_v_;
};

/// The taps of one axis as one array per field.
struct TapLists {
  explicit TapLists(const std::vector<ResizeTap>& taps);
  std::vector<int32_t> first;
  std::vector<int32_t> second;
  std::vector<int32_t> weight;
};

/// Interpolates a row's pixels at the taps; results are times 2^11.
void resize_row(const uint8_t* row, const TapLists& taps, int32_t* out);
/// Interpolates between two such rows and rounds to levels; `weight` is that of the second row times 2^11.
void mix_rows(const int32_t* a, const int32_t* b, int32_t weight, uint8_t* out, size_t width);

}  // namespace hone::media
