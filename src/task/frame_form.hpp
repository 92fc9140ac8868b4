// The position of frames in a network's input, as the numbers that a device needs to fill the input.
#pragma once

#include <memory>
#include <vector>

#include "base/refusal.hpp"
#include "engine/frame_filler.hpp"
#include "media/frame.hpp"
#include "media/planar.hpp"
#include "task/geometry.hpp"

namespace hone::task {

/// Describes frames of one size and one colour format.
struct FrameForm {
  /// Either taps or windows, one for each pixel of the rectangle.
  struct Axis {
    std::vector<engine::FrameTap> taps;
    std::vector<engine::FrameWindow> windows;
    std::vector<int32_t> weights;
  };

  engine::FrameFormat format = engine::FrameFormat::kRgb24;
  engine::FrameColours colours;
  int32_t left = 0;
  int32_t top = 0;
  int32_t width = 0;
  int32_t height = 0;
  Axis columns;
  Axis rows;
};

/// The reason if devices cannot convert frames of this format, else an empty refusal.
Refusal frame_refusal(const media::Frame& frame);

/// Describes the resizing that media::resize_plane() does.
FrameForm bilinear_form(const media::Frame& frame, const Geometry& geometry,
                        media::ResizeGrid grid = media::ResizeGrid::kHalfPixel);

/// The part of an axis that remains after antialiased resizing: `count` pixels from `first` on, of `to`
/// pixels.
struct AxisPart {
  int64_t to = 0;
  int64_t first = 0;
  int64_t count = 0;
};
/// Describes the resizing that importer::resize_image() does, into a rectangle at `left` and `top` of the
/// input.
FrameForm antialiased_form(const media::Frame& frame, const AxisPart& columns, const AxisPart& rows,
                           int64_t left, int64_t top);

/// Reuses the form of the previous frame if the next frame has equal properties. Used by one thread.
class FormCache {
 public:
  template <class Make>
  std::shared_ptr<const FrameForm> form_of(const media::Frame& frame, const Make& make) {
    if (form_ == nullptr || !is_alike(frame)) {
      form_ = std::make_shared<const FrameForm>(make());
      // Only the properties are kept, not the planes.
      last_ = frame;
      last_.owner = nullptr;
    }
    return form_;
  }

 private:
  bool is_alike(const media::Frame& frame) const {
    return frame.format == last_.format && frame.width == last_.width && frame.height == last_.height &&
           frame.matrix == last_.matrix && frame.full_range == last_.full_range;
  }

  media::Frame last_;
  std::shared_ptr<const FrameForm> form_;
};

}  // namespace hone::task
