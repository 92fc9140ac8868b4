// Boxes and names of detections on the frame that they were found in.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "media/frame.hpp"
#include "task/detection.hpp"

namespace hone::task {

/// The frame itself where there is nothing to draw, else a copy.
media::Frame draw_detections(const media::Frame& frame, std::span<const Detection> detections,
                             const std::vector<std::string>& names);

}  // namespace hone::task
