// Non-maximum suppression: of boxes of one class that cover each other the one with the highest score stays.
#pragma once

#include <vector>

#include "task/detection.hpp"

namespace hone::task {

/// By falling score; of equal scores the earlier one comes first.
void sort_by_score(std::vector<Detection>* detections);

/// Per class, by falling score; leaves them sorted. `place`: of the image, in whose pixels the boxes are.
void suppress(const engine::BoxSelection& selection, const engine::BoxPlace& place,
              std::vector<Detection>* detections);

}  // namespace hone::task
