// Draws boxes and names in the frame's own colour format, so that a 4:2:0 frame need not be converted to red,
// green and blue and back.
#pragma once

#include <array>
#include <string_view>

#include "media/frame.hpp"

namespace hone::media {

using Rgb = std::array<uint8_t, 3>;

/// Fills the rectangle, clipped to the frame.
void fill_rectangle(WritableFrame* target, int64_t x1, int64_t y1, int64_t x2, int64_t y2, Rgb colour);
/// Draws the border of the rectangle, `thickness` pixels wide, inside of its corners.
void draw_rectangle(WritableFrame* target, int64_t x1, int64_t y1, int64_t x2, int64_t y2, int64_t thickness,
                    Rgb colour);
/// Draws capital letters, digits and some signs; other characters appear as a box. `scale` is the size of a
/// font pixel in frame pixels.
void draw_text(WritableFrame* target, int64_t x, int64_t y, std::string_view text, int64_t scale, Rgb colour);

/// Width in font pixels, including the gap to the next letter.
inline constexpr int64_t kGlyphWidth = 6;
inline constexpr int64_t kGlyphHeight = 7;

/// Returns a colour that differs from those of neighbouring classes.
Rgb class_colour(int64_t label);

}  // namespace hone::media
