// The results of a detector.
#pragma once

#include <cstdint>

#include "engine/box_rule.hpp"

namespace hone::task {

using engine::Box;
using engine::box::iou;

struct Detection {
  Box box;
  float score = 0;
  int64_t label = 0;   ///< index of the class, from 0
  int64_t track = -1;  ///< equal for one object in all frames; -1 without tracking
};

}  // namespace hone::task
