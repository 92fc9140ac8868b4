// The results of a detector.
#pragma once

#include <cstdint>

namespace hone::task {

/// Corners in pixels; the right and lower ones are behind the last pixel.
struct Box {
  float x1 = 0;
  float y1 = 0;
  float x2 = 0;
  float y2 = 0;

  float width() const { return x2 - x1; }
  float height() const { return y2 - y1; }
};

struct Detection {
  Box box;
  float score = 0;
  int64_t label = 0;   ///< index of the class, from 0
  int64_t track = -1;  ///< the same for one object in all frames; -1 where nobody tracks
};

/// Area of the common part by that of the union; 0 for boxes without area.
float iou(const Box& a, const Box& b);

}  // namespace hone::task
