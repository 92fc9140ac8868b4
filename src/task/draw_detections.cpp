// See draw_detections.hpp.
#include "task/draw_detections.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "media/draw.hpp"
#include "task/names.hpp"

namespace hone::task {
namespace {

/// Boxes may extend far outside of a frame.
int64_t whole(float value) {
  constexpr float kFar = 1e6f;
  return std::lround(std::clamp(value, -kFar, kFar));
}

}  // namespace

media::Frame draw_detections(const media::Frame& frame, std::span<const Detection> detections,
                             const std::vector<std::string>& names) {
  if (detections.empty()) return frame;
  media::WritableFrame canvas = media::copy_of(frame);
  constexpr int64_t kThickness = 2;
  // The height of letters is at most a thirtieth of the frame's height.
  const int64_t scale = std::max<int64_t>(1, frame.height / 400);
  for (const Detection& found : detections) {
    const media::Rgb colour = media::class_colour(found.track >= 0 ? found.track : found.label);
    const int64_t x = whole(found.box.x1);
    const int64_t y = whole(found.box.y1);
    media::draw_rectangle(&canvas, x, y, whole(found.box.x2), whole(found.box.y2), kThickness, colour);
    std::string label = fmt::format("{} {:.0f}%", name_of(names, found.label), 100 * found.score);
    if (found.track >= 0) label += fmt::format(" #{}", found.track);
    const int64_t height = (media::kGlyphHeight + 2) * scale;
    const int64_t top = y >= height ? y - height : y;
    const auto letters = static_cast<int64_t>(label.size());
    media::fill_rectangle(&canvas, x, top, x + (letters * media::kGlyphWidth + 1) * scale, top + height,
                          colour);
    media::draw_text(&canvas, x + scale, top + scale, label, scale, {255, 255, 255});
  }
  return canvas.frame;
}

}  // namespace hone::task
