// See nms.hpp.
#include "task/nms.hpp"

#include <algorithm>
#include <unordered_map>

namespace hone::task {

void sort_by_score(std::vector<Detection>* detections) {
  std::stable_sort(detections->begin(), detections->end(),
                   [](const Detection& a, const Detection& b) { return a.score > b.score; });
}

void suppress(const engine::BoxSelection& selection, const engine::BoxPlace& place,
              std::vector<Detection>* detections) {
  sort_by_score(detections);
  std::unordered_map<int64_t, std::vector<Box>> kept;
  std::erase_if(*detections, [&](const Detection& detection) {
    std::vector<Box>& rivals = kept[detection.label];
    const bool covered = std::any_of(rivals.begin(), rivals.end(), [&](const Box& rival) {
      return engine::box::overlap_of(selection, place, rival, detection.box) > selection.overlap;
    });
    if (!covered) rivals.push_back(detection.box);
    return covered;
  });
}

}  // namespace hone::task
