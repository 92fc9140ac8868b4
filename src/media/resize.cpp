// Bilinear resizing of one plane: rows are resized once and kept for the two target rows that read them.
#include <algorithm>
#include <cmath>

#include "media/planar.hpp"

namespace hone::media {
namespace {

/// Weights have 11 bits, as in OpenCV, so that results are its own but for a level.
constexpr int kBits = 11;
constexpr int32_t kOne = 1 << kBits;

void resize_row(const uint8_t* row, const std::vector<ResizeTap>& taps, int32_t* out) {
  for (size_t x = 0; x < taps.size(); ++x)
    out[x] = row[taps[x].first] * (kOne - taps[x].weight) + row[taps[x].second] * taps[x].weight;
}

void mix_rows(const int32_t* __restrict a, const int32_t* __restrict b, int32_t weight,
              uint8_t* __restrict out, size_t width) {
  constexpr int32_t kHalf = 1 << (2 * kBits - 1);
  for (size_t x = 0; x < width; ++x)
    out[x] = static_cast<uint8_t>((a[x] * (kOne - weight) + b[x] * weight + kHalf) >> (2 * kBits));
}

void resize_by(const std::vector<ResizeTap>& columns, const std::vector<ResizeTap>& rows, const uint8_t* from,
               int64_t width, uint8_t* to, int64_t stride) {
  std::array<std::vector<int32_t>, 2> kept{std::vector<int32_t>(columns.size()),
                                           std::vector<int32_t>(columns.size())};
  std::array<int64_t, 2> kept_row{-1, -1};
  const auto row_at = [&](int64_t y, int64_t other) -> const int32_t* {
    for (size_t i = 0; i < 2; ++i)
      if (kept_row[i] == y) return kept[i].data();
    const size_t free = kept_row[0] == other ? 1 : 0;
    resize_row(from + y * width, columns, kept[free].data());
    kept_row[free] = y;
    return kept[free].data();
  };
  for (size_t y = 0; y < rows.size(); ++y) {
    const int32_t* first = row_at(rows[y].first, rows[y].second);
    const int32_t* second = row_at(rows[y].second, rows[y].first);
    mix_rows(first, second, rows[y].weight, to + static_cast<int64_t>(y) * stride, columns.size());
  }
}

}  // namespace

std::vector<ResizeTap> resize_taps(int64_t from, int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double shift = scale / 2 - 0.5;
  std::vector<ResizeTap> taps(static_cast<size_t>(to));
  for (int64_t i = 0; i < to; ++i) {
    const double at = std::clamp(static_cast<double>(i) * scale + shift, 0.0, static_cast<double>(from - 1));
    ResizeTap& tap = taps[static_cast<size_t>(i)];
    tap.first = static_cast<int64_t>(at);
    tap.second = std::min(tap.first + 1, from - 1);
    tap.weight = static_cast<int32_t>(std::lround((at - static_cast<double>(tap.first)) * kOne));
  }
  return taps;
}

void resize_plane(const uint8_t* from, int64_t width, int64_t height, uint8_t* to, int64_t to_width,
                  int64_t to_height, int64_t stride) {
  if (width == to_width && height == to_height) {
    for (int64_t y = 0; y < height; ++y) std::copy_n(from + y * width, width, to + y * stride);
    return;
  }
  resize_by(resize_taps(width, to_width), resize_taps(height, to_height), from, width, to, stride);
}

}  // namespace hone::media
