// One head of a detector: the rule by which the host and a device read its boxes, with the data that it
// points to.
#pragma once

#include <vector>

#include "engine/box_rule.hpp"

namespace hone::task {

struct HeadRule {
  engine::BoxHead head;
  std::vector<float> anchors;

  /// The result is valid as long as this object exists.
  engine::BoxHead get() const {
    engine::BoxHead complete = head;
    complete.anchors = anchors.data();
    complete.anchor_count = static_cast<int32_t>(anchors.size() / 2);
    return complete;
  }
};

}  // namespace hone::task
