// Draws on frames: rectangles in planes of any subsampling, and letters of five by seven pixels.
#include <algorithm>
#include <utility>

#include "media/draw.hpp"
#include "media/planar.hpp"

namespace hone::media {
namespace {

/// 35 bits for each letter, row by row from the upper left; the first pixel is the highest bit.
constexpr std::pair<char, uint64_t> kFont[] = {
    {'0', 0x3a33ae62e}, {'1', 0x11842108e}, {'2', 0x3a211111f}, {'3', 0x78217043e},  {'4', 0x08ca97c42},
    {'5', 0x7e1e0862e}, {'6', 0x3a10f462e}, {'7', 0x7c2221084}, {'8', 0x3a317462e},  {'9', 0x3a317842e},
    {'A', 0x11518fe31}, {'B', 0x7a31f463e}, {'C', 0x3e108420f}, {'D', 0x7a318c63e},  {'E', 0x7e10f421f},
    {'F', 0x7e10f4210}, {'G', 0x3e109c62f}, {'H', 0x4631fc631}, {'I', 0x38842108e},  {'J', 0x1c4210a4c},
    {'K', 0x4654c5251}, {'L', 0x42108421f}, {'M', 0x4775ac631}, {'N', 0x4739ace71},  {'O', 0x3a318c62e},
    {'P', 0x7a31f4210}, {'Q', 0x3a318d64d}, {'R', 0x7a31f5251}, {'S', 0x3e107043e},  {'T', 0x7c8421084},
    {'U', 0x46318c62e}, {'V', 0x46318c544}, {'W', 0x4631ad771}, {'X', 0x462a22a31},  {'Y', 0x462a21084},
    {'Z', 0x7c222221f}, {' ', 0x000000000}, {'.', 0x00000018c}, {'-', 0x000070000},  {'_', 0x00000001f},
    {':', 0x018c03180}, {'/', 0x042222210}, {'%', 0x672222273}, {'#', 0x295f57d4a},  {'+', 0x0084f9080},
    {',', 0x000003088}, {'(', 0x088842082}, {')', 0x208210888}, {'\'', 0x108000000}, {'&', 0x32544564d},
    {'?', 0x3a2111004}, {'!', 0x108421004}};
constexpr int64_t kGlyphColumns = 5;
/// Shown for letters that the font lacks.
constexpr uint64_t kUnknown = 0x7e318c63f;

uint64_t glyph(char letter) {
  const char capital = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  const auto* const found = std::find_if(std::begin(kFont), std::end(kFont),
                                         [&](const auto& entry) { return entry.first == capital; });
  return found == std::end(kFont) ? kUnknown : found->second;
}

/// Fills samples of one plane; a chroma sample is filled if any of its pixels is covered.
void fill_plane(WritableFrame* target, int64_t plane, int64_t x1, int64_t y1, int64_t x2, int64_t y2,
                const uint8_t* sample, int64_t bytes) {
  const Frame& frame = target->frame;
  const int64_t x_step = (frame.width + plane_width(frame, plane) - 1) / plane_width(frame, plane);
  const int64_t y_step = (frame.height + plane_height(frame, plane) - 1) / plane_height(frame, plane);
  const auto index = static_cast<size_t>(plane);
  for (int64_t y = y1 / y_step; y < (y2 + y_step - 1) / y_step; ++y) {
    uint8_t* row = target->data[index] + y * frame.planes[index].stride;
    for (int64_t x = x1 / x_step; x < (x2 + x_step - 1) / x_step; ++x)
      std::copy_n(sample, bytes, row + x * bytes);
  }
}

}  // namespace

void fill_rectangle(WritableFrame* target, int64_t x1, int64_t y1, int64_t x2, int64_t y2, Rgb colour) {
  const Frame& frame = target->frame;
  x1 = std::max<int64_t>(x1, 0);
  y1 = std::max<int64_t>(y1, 0);
  x2 = std::min(x2, frame.width);
  y2 = std::min(y2, frame.height);
  if (x1 >= x2 || y1 >= y2) return;
  const auto samples = in_colours_of(frame, colour);
  if (frame.format == PixelFormat::kRgb24) return fill_plane(target, 0, x1, y1, x2, y2, samples.data(), 3);
  for (int64_t p = 0; p < plane_count(frame.format); ++p)
    fill_plane(target, p, x1, y1, x2, y2, samples.data() + p, 1);
}

void draw_rectangle(WritableFrame* target, int64_t x1, int64_t y1, int64_t x2, int64_t y2, int64_t thickness,
                    Rgb colour) {
  fill_rectangle(target, x1, y1, x2, std::min(y1 + thickness, y2), colour);
  fill_rectangle(target, x1, std::max(y2 - thickness, y1), x2, y2, colour);
  fill_rectangle(target, x1, y1, std::min(x1 + thickness, x2), y2, colour);
  fill_rectangle(target, std::max(x2 - thickness, x1), y1, x2, y2, colour);
}

void draw_text(WritableFrame* target, int64_t x, int64_t y, std::string_view text, int64_t scale,
               Rgb colour) {
  for (const char letter : text) {
    const uint64_t bits = glyph(letter);
    for (int64_t i = 0; i < kGlyphColumns * kGlyphHeight; ++i) {
      if ((bits >> (kGlyphColumns * kGlyphHeight - 1 - i) & 1) == 0) continue;
      const int64_t left = x + i % kGlyphColumns * scale;
      const int64_t top = y + i / kGlyphColumns * scale;
      fill_rectangle(target, left, top, left + scale, top + scale, colour);
    }
    x += kGlyphWidth * scale;
  }
}

Rgb class_colour(int64_t label) {
  constexpr Rgb kColours[] = {{230, 60, 60},  {60, 170, 75},  {70, 120, 230}, {240, 160, 40}, {150, 70, 190},
                              {40, 180, 190}, {220, 80, 160}, {150, 150, 40}, {120, 80, 50},  {90, 100, 110}};
  const auto count = static_cast<int64_t>(std::size(kColours));
  return kColours[((label % count) + count) % count];
}

}  // namespace hone::media
