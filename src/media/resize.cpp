// Bilinear resizing of one plane. Each source row is resized horizontally once and kept for the two target
// rows that read it.
#include <algorithm>
#include <cmath>

#include "device/cpu/clones.hpp"
#include "media/planar.hpp"
#include "media/rows.hpp"

namespace hone::media {
namespace {

/// Weights have 11 bits as in OpenCV, so that results differ from OpenCV's by at most one level.
constexpr int kBits = 11;
constexpr int32_t kOne = 1 << kBits;

/// Source rows that were resized horizontally; two of them are kept for the next target rows. `make(y, slot)`
/// fills the slot with row y.
template <class Make>
class KeptRows {
 public:
  explicit KeptRows(Make make) : make_(std::move(make)) {}

  /// Returns the slot with row y; the slot of row `other` is kept.
  size_t at(int64_t y, int64_t other) {
    for (size_t slot = 0; slot < 2; ++slot)
      if (rows_[slot] == y) return slot;
    const size_t free = rows_[0] == other ? 1 : 0;
    make_(y, free);
    rows_[free] = y;
    return free;
  }

 private:
  Make make_;
  std::array<int64_t, 2> rows_{-1, -1};
};

}  // namespace

TapLists::TapLists(const std::vector<ResizeTap>& taps) {
  for (const ResizeTap& tap : taps) {
    first.push_back(static_cast<int32_t>(tap.first));
    second.push_back(static_cast<int32_t>(tap.second));
    weight.push_back(tap.weight);
  }
}

void resize_row(const uint8_t* row, const TapLists& taps, int32_t* out) {
  const int32_t* first = taps.first.data();
  const int32_t* second = taps.second.data();
  const int32_t* weight = taps.weight.data();
  for (size_t x = 0; x < taps.weight.size(); ++x)
    out[x] = row[first[x]] * (kOne - weight[x]) + row[second[x]] * weight[x];
}

HONE_CLONES void mix_rows(const int32_t* __restrict a, const int32_t* __restrict b, int32_t weight,
                          uint8_t* __restrict out, size_t width) {
  constexpr int32_t kHalf = 1 << (2 * kBits - 1);
  for (size_t x = 0; x < width; ++x)
    out[x] = static_cast<uint8_t>((a[x] * (kOne - weight) + b[x] * weight + kHalf) >> (2 * kBits));
}

std::vector<ResizeTap> resize_taps(int64_t from, int64_t to, ResizeGrid grid) {
  const bool corners = grid == ResizeGrid::kAlignCorners;
  const double intervals = static_cast<double>(corners ? from - 1 : from);
  const double scale = intervals / static_cast<double>(corners ? std::max<int64_t>(to - 1, 1) : to);
  const double shift = corners ? 0 : scale / 2 - 0.5;
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
                  int64_t to_height, int64_t stride, ResizeGrid grid) {
  if (width == to_width && height == to_height) {
    for (int64_t y = 0; y < height; ++y) std::copy_n(from + y * width, width, to + y * stride);
    return;
  }
  const TapLists columns(resize_taps(width, to_width, grid));
  std::array<std::vector<int32_t>, 2> kept;
  for (auto& row : kept) row.resize(columns.weight.size());
  KeptRows rows([&](int64_t y, size_t slot) { resize_row(from + y * width, columns, kept[slot].data()); });
  for (const ResizeTap& tap : resize_taps(height, to_height, grid)) {
    const size_t first = rows.at(tap.first, tap.second);
    const size_t second = rows.at(tap.second, tap.first);
    mix_rows(kept[first].data(), kept[second].data(), tap.weight, to, columns.weight.size());
    to += stride;
  }
}

void resize_to_rgb(const Frame& frame, int64_t width, int64_t height, ResizeGrid grid, const UseRgbRow& use) {
  RgbRows source(frame);
  const auto from_width = static_cast<size_t>(frame.width);
  std::vector<uint8_t> converted(3 * from_width);
  const RgbRow colours{converted.data(), converted.data() + from_width, converted.data() + 2 * from_width};
  if (width == frame.width && height == frame.height) {
    for (int64_t y = 0; y < height; ++y) {
      source.read(y, colours);
      use(y, colours);
    }
    return;
  }
  const TapLists columns(resize_taps(frame.width, width, grid));
  const size_t to_width = columns.weight.size();
  std::vector<int32_t> kept(6 * to_width);
  const auto kept_row = [&](size_t slot, size_t colour) {
    return kept.data() + (3 * slot + colour) * to_width;
  };
  KeptRows rows([&](int64_t y, size_t slot) {
    source.read(y, colours);
    for (size_t c = 0; c < 3; ++c) resize_row(colours[c], columns, kept_row(slot, c));
  });
  std::vector<uint8_t> mixed(3 * to_width);
  const RgbRow out{mixed.data(), mixed.data() + to_width, mixed.data() + 2 * to_width};
  int64_t y = 0;
  for (const ResizeTap& tap : resize_taps(frame.height, height, grid)) {
    const size_t first = rows.at(tap.first, tap.second);
    const size_t second = rows.at(tap.second, tap.first);
    for (size_t c = 0; c < 3; ++c)
      mix_rows(kept_row(first, c), kept_row(second, c), tap.weight, out[c], to_width);
    use(y++, out);
  }
}

}  // namespace hone::media
