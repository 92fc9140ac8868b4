// Draws boxes and names of detections on the frame in which they were found.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "media/frame.hpp"
#include "task/detection.hpp"

namespace hone::task {

/// Returns the frame itself if there is nothing to draw, else a copy.
media::Frame draw_detections(const media::Frame& frame, std::span<const Detection> detections,
                             const std::vector<std::string>& names);

}  // namespace hone::task
