// Converts frames to red, green and blue with the matrices of ITU-T H.273 section 8.3, with 16 fractional
// bits.
#include <algorithm>
#include <cmath>

#include "device/cpu/clones.hpp"
#include "media/planar.hpp"
#include "media/rows.hpp"

namespace hone::media {
namespace {

constexpr int kBits = 16;

struct Weights {
  double red;
  double blue;
};

Weights weights_of(ColourMatrix matrix) {
  switch (matrix) {
    case ColourMatrix::kBt709: return {0.2126, 0.0722};
    case ColourMatrix::kBt2020: return {0.2627, 0.0593};
    case ColourMatrix::kSmpte240: return {0.212, 0.087};
    case ColourMatrix::kFcc: return {0.30, 0.11};
    default: return {0.299, 0.114};
  }
}

/// In the full range, Y is 0..255 and chroma is around 128; in the limited range, Y is 16..235 and chroma has
/// 224 levels.
struct Range {
  double luma_offset;
  double luma_levels;
  double chroma_levels;
};

Range range_of(bool full) { return full ? Range{0, 255, 255} : Range{16, 219, 224}; }

/// Computes one row of one colour; chroma rows are as wide as luma.
HONE_CLONES void convert_row(const uint8_t* __restrict luma, const uint8_t* __restrict u,
                             const uint8_t* __restrict v, const RgbCoefficients& by, size_t colour,
                             uint8_t* __restrict out, int64_t width) {
  const int32_t offset = by.luma_offset;
  const int32_t of_luma = by.luma;
  const int32_t of_u = by.u[colour];
  const int32_t of_v = by.v[colour];
  for (int64_t x = 0; x < width; ++x) {
    const int32_t sum =
        (luma[x] - offset) * of_luma + (u[x] - 128) * of_u + (v[x] - 128) * of_v + (1 << (kBits - 1));
    const int32_t level = sum >> kBits;
    out[x] = static_cast<uint8_t>(level < 0 ? 0 : level > 255 ? 255 : level);
  }
}

HONE_CLONES void widen_row(const uint8_t* __restrict from, uint8_t* __restrict to, int64_t width) {
  for (int64_t x = 0; x + 1 < width; x += 2) {
    to[x] = from[x / 2];
    to[x + 1] = from[x / 2];
  }
  if (width % 2 == 1) to[width - 1] = from[width / 2];
}

}  // namespace

RgbCoefficients rgb_coefficients(const Frame& frame) {
  const Range range = range_of(frame.full_range);
  const auto fixed = [](double value) { return static_cast<int32_t>(std::lround(value * (1 << kBits))); };
  const double luma = 255 / range.luma_levels;
  const double chroma = 255 / range.chroma_levels;
  RgbCoefficients result{static_cast<int32_t>(range.luma_offset), fixed(luma), {}, {}};
  if (frame.matrix == ColourMatrix::kYcgco) {
    result.u = {fixed(-chroma), fixed(chroma), fixed(-chroma)};
    result.v = {fixed(chroma), 0, fixed(-chroma)};
    return result;
  }
  const auto [red, blue] = weights_of(frame.matrix);
  const double green = 1 - red - blue;
  result.u = {0, fixed(-chroma * 2 * (1 - blue) * blue / green), fixed(chroma * 2 * (1 - blue))};
  result.v = {fixed(chroma * 2 * (1 - red)), fixed(-chroma * 2 * (1 - red) * red / green), 0};
  return result;
}

RgbRows::RgbRows(const Frame& frame) : frame_(frame) {
  if (frame.format == PixelFormat::kRgb24) return;
  by_ = rgb_coefficients(frame);
  rows_share_ = frame.format == PixelFormat::kYuv420 ? 2 : 1;
  is_narrow_ = frame.format == PixelFormat::kYuv420 || frame.format == PixelFormat::kYuv422;
  const bool is_grey = frame.format == PixelFormat::kGray;
  if (!is_grey && !is_narrow_) return;
  // Grey frames get neutral chroma.
  wide_u_.assign(static_cast<size_t>(frame.width), 128);
  wide_v_.assign(static_cast<size_t>(frame.width), 128);
}

void RgbRows::read(int64_t y, const RgbRow& out) {
  if (frame_.format != PixelFormat::kRgb24) return read_yuv(y, out);
  const uint8_t* row = frame_.planes[0].data + y * frame_.planes[0].stride;
  for (int64_t x = 0; x < frame_.width; ++x)
    for (size_t c = 0; c < 3; ++c) out[c][x] = row[3 * x + static_cast<int64_t>(c)];
}

void RgbRows::read_yuv(int64_t y, const RgbRow& out) {
  const uint8_t* u = wide_u_.data();
  const uint8_t* v = wide_v_.data();
  if (frame_.format != PixelFormat::kGray) {
    const int64_t row = y / rows_share_;
    u = frame_.planes[1].data + row * frame_.planes[1].stride;
    v = frame_.planes[2].data + row * frame_.planes[2].stride;
    if (is_narrow_) {
      if (row != chroma_row_) {
        widen_row(u, wide_u_.data(), frame_.width);
        widen_row(v, wide_v_.data(), frame_.width);
        chroma_row_ = row;
      }
      u = wide_u_.data();
      v = wide_v_.data();
    }
  }
  const uint8_t* luma = frame_.planes[0].data + y * frame_.planes[0].stride;
  for (size_t c = 0; c < 3; ++c) convert_row(luma, u, v, by_, c, out[c], frame_.width);
}

PlanarImage to_rgb(const Frame& frame) {
  PlanarImage image{frame.width, frame.height, {}};
  for (auto& plane : image.planes) plane.resize(static_cast<size_t>(frame.width * frame.height));
  RgbRows rows(frame);
  for (int64_t y = 0; y < frame.height; ++y) {
    const int64_t at = y * frame.width;
    rows.read(y, {image.planes[0].data() + at, image.planes[1].data() + at, image.planes[2].data() + at});
  }
  return image;
}

importer::Image interleaved(const PlanarImage& image) {
  importer::Image result{image.width, image.height, 3, {}};
  const size_t pixels = image.planes[0].size();
  result.pixels.resize(3 * pixels);
  for (size_t c = 0; c < 3; ++c)
    for (size_t i = 0; i < pixels; ++i) result.pixels[3 * i + c] = image.planes[c][i];
  return result;
}

PlanarImage planar(const importer::Image& image) {
  PlanarImage result{image.width, image.height, {}};
  const auto channels = static_cast<size_t>(image.channels);
  const auto pixels = static_cast<size_t>(image.width * image.height);
  for (size_t c = 0; c < 3; ++c) {
    result.planes[c].resize(pixels);
    const size_t channel = channels == 3 ? c : 0;
    for (size_t i = 0; i < pixels; ++i) result.planes[c][i] = image.pixels[i * channels + channel];
  }
  return result;
}

Frame frame_of(importer::Image image) {
  Frame frame;
  frame.format = image.channels == 3 ? PixelFormat::kRgb24 : PixelFormat::kGray;
  frame.width = image.width;
  frame.height = image.height;
  const int64_t stride = image.width * image.channels;
  const auto owner = std::make_shared<importer::Image>(std::move(image));
  frame.planes[0] = {owner->pixels.data(), stride};
  frame.owner = owner;
  return frame;
}

std::array<uint8_t, 3> in_colours_of(const Frame& frame, std::array<uint8_t, 3> rgb) {
  if (frame.format == PixelFormat::kRgb24) return rgb;
  const double red = rgb[0] / 255.0;
  const double green = rgb[1] / 255.0;
  const double blue = rgb[2] / 255.0;
  const Range range = range_of(frame.full_range);
  double luma = (red + 2 * green + blue) / 4;
  double u = (2 * green - red - blue) / 4;
  double v = (red - blue) / 2;
  if (frame.matrix != ColourMatrix::kYcgco) {
    const auto [of_red, of_blue] = weights_of(frame.matrix);
    luma = of_red * red + (1 - of_red - of_blue) * green + of_blue * blue;
    u = (blue - luma) / (2 * (1 - of_blue));
    v = (red - luma) / (2 * (1 - of_red));
  }
  const auto level = [](double value) {
    return static_cast<uint8_t>(std::clamp(std::lround(value), 0L, 255L));
  };
  return {level(range.luma_offset + range.luma_levels * luma), level(128 + range.chroma_levels * u),
          level(128 + range.chroma_levels * v)};
}

}  // namespace hone::media
