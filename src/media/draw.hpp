// Boxes and their names on frames, in the frame's own colours: a 4:2:0 frame need not become red, green and
// blue and back.
#pragma once

#include <array>
#include <string_view>

#include "media/frame.hpp"

namespace hone::media {

using Rgb = std::array<uint8_t, 3>;

/// Filled; what is outside of the frame is left out.
void fill_rectangle(WritableFrame* target, int64_t x1, int64_t y1, int64_t x2, int64_t y2, Rgb colour);
/// Its border, `thickness` wide, inside of the corners.
void draw_rectangle(WritableFrame* target, int64_t x1, int64_t y1, int64_t x2, int64_t y2, int64_t thickness,
                    Rgb colour);
/// Capital letters, digits and some signs; others are shown as a box. `scale`: pixels for each of the font's.
void draw_text(WritableFrame* target, int64_t x, int64_t y, std::string_view text, int64_t scale, Rgb colour);

/// Width in the font's pixels, with the gap to the next letter.
inline constexpr int64_t kGlyphWidth = 6;
inline constexpr int64_t kGlyphHeight = 7;

/// One that differs from those of neighbouring classes.
Rgb class_colour(int64_t label);

}  // namespace hone::media
