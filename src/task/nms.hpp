// Non-maximum suppression: of overlapping boxes of one class, only the one with the highest score remains.
#pragma once

#include <vector>

#include "task/detection.hpp"

namespace hone::task {

/// Sorts by falling score; equal scores keep their order.
void sort_by_score(std::vector<Detection>* detections);

/// Suppresses boxes within each class; the result is sorted by falling score. `place` belongs to the image in
/// whose pixels the boxes are.
void suppress(const engine::BoxSelection& selection, const engine::BoxPlace& place,
              std::vector<Detection>* detections);

}  // namespace hone::task
