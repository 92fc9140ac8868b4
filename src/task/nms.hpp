// Non-maximum suppression: of boxes of one class that cover each other the one with the highest score stays.
#pragma once

#include <functional>
#include <vector>

#include "task/detection.hpp"

namespace hone::task {

/// How much two boxes count as one; those with more than the threshold are.
using Overlap = std::function<float(const Box&, const Box&)>;

/// By falling score; of equal scores the earlier one comes first.
void sort_by_score(std::vector<Detection>* detections);

/// Per class, by falling score; leaves them sorted.
void suppress(float threshold, const Overlap& overlap, std::vector<Detection>* detections);

}  // namespace hone::task
