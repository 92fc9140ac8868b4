// Average precision by COCO's rule (cocoapi, cocoeval.py: 101 recall thresholds, maxDets left open).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "task/ground_truth.hpp"
#include "task/names.hpp"

namespace hone::task {
namespace {

constexpr float kOverlap = 0.5f;
constexpr int kRecalls = 101;

/// A matched detection: true if it found an object, else false. Detections that match an ignored box count as
/// neither and are not stored.
struct Judged {
  float score = 0;
  bool is_true = false;
};

struct ClassResult {
  std::vector<Judged> judged;
  int64_t truths = 0;
};

/// IoU. For a crowd, which is one box around many objects, the share of the detection that lies inside it.
float overlap_with(const TrueBox& truth, const Box& found) {
  if (!truth.crowd) return iou(truth.box, found);
  const float width = std::min(truth.box.x2, found.x2) - std::max(truth.box.x1, found.x1);
  const float height = std::min(truth.box.y2, found.y2) - std::max(truth.box.y1, found.y1);
  const float area = found.width() * found.height();
  return width > 0 && height > 0 && area > 0 ? width * height / area : 0;
}

/// Matches the detections of one class in one frame, which are sorted by falling score: each takes the free
/// true box with the largest overlap.
void match_frame(const std::vector<TrueBox>& truths, const std::vector<const Detection*>& found,
                 ClassResult* result) {
  std::vector<bool> taken(truths.size(), false);
  for (const Detection* detection : found) {
    size_t best = truths.size();
    float most = kOverlap;
    for (size_t i = 0; i < truths.size(); ++i) {
      const float overlap = overlap_with(truths[i], detection->box);
      // Any number of detections may match an ignored box, but only if no other box matches.
      const bool open = truths[i].ignored ? best == truths.size() : !taken[i];
      const bool replaces =
          best < truths.size() && truths[best].ignored && !truths[i].ignored && overlap >= kOverlap;
      if (!open || (!replaces && overlap < most)) continue;
      best = i;
      most = std::max(overlap, kOverlap);
    }
    if (best == truths.size()) {
      result->judged.push_back({detection->score, false});
    } else if (!truths[best].ignored) {
      taken[best] = true;
      result->judged.push_back({detection->score, true});
    }
  }
}

double average_precision(ClassResult* result) {
  std::stable_sort(result->judged.begin(), result->judged.end(),
                   [](const Judged& a, const Judged& b) { return a.score > b.score; });
  std::vector<double> precision;
  std::vector<double> recall;
  int64_t good = 0;
  for (size_t i = 0; i < result->judged.size(); ++i) {
    good += result->judged[i].is_true ? 1 : 0;
    precision.push_back(static_cast<double>(good) / static_cast<double>(i + 1));
    recall.push_back(static_cast<double>(good) / static_cast<double>(result->truths));
  }
  for (size_t i = precision.size(); i-- > 1;) precision[i - 1] = std::max(precision[i - 1], precision[i]);
  double sum = 0;
  for (int k = 0; k < kRecalls; ++k) {
    const double wanted = k / static_cast<double>(kRecalls - 1);
    const auto at = std::lower_bound(recall.begin(), recall.end(), wanted);
    if (at != recall.end()) sum += precision[static_cast<size_t>(at - recall.begin())];
  }
  return sum / kRecalls;
}

}  // namespace

Accuracy measure_accuracy(const GroundTruth& truth, const std::vector<FrameResult>& results,
                          const std::vector<std::string>& names, float threshold) {
  std::map<int64_t, ClassResult> classes;
  const auto id_of = [&](const FrameResult& result) {
    return truth.by_image_id ? truth.image_ids.of(result.name, result.frame) : result.frame;
  };
  std::set<int64_t> read;
  int64_t unlisted = 0;
  for (const FrameResult& result : results) {
    read.insert(id_of(result));
    unlisted += truth.image_ids.lacks(result.name) ? 1 : 0;
  }
  int64_t unread_frames = 0;
  int64_t unread_boxes = 0;
  for (const auto& [frame, boxes] : truth.frames) {
    const bool is_read = read.contains(frame);
    int64_t count = 0;
    for (const TrueBox& box : boxes) {
      if (box.ignored) continue;
      ++count;
      if (is_read) ++classes[box.label].truths;
    }
    unread_frames += !is_read && count > 0 ? 1 : 0;
    unread_boxes += is_read ? 0 : count;
  }
  for (const FrameResult& result : results) {
    if (truth.image_ids.lacks(result.name)) continue;
    const int64_t id = id_of(result);
    const auto boxes = truth.frames.find(id);
    std::map<int64_t, std::vector<const Detection*>> found;
    for (const Detection& detection : result.detections)
      found[truth.one_class ? 0 : detection.label].push_back(&detection);
    for (const auto& [label, detections] : found) {
      std::vector<TrueBox> own;
      if (boxes != truth.frames.end())
        std::copy_if(boxes->second.begin(), boxes->second.end(), std::back_inserter(own),
                     [label = label](const TrueBox& box) { return box.label == label; });
      match_frame(own, detections, &classes[label]);
    }
  }
  Accuracy accuracy;
  accuracy.threshold = threshold;
  accuracy.rule =
      "mAP@0.5: COCO's 101 points of recall, IoU of 0.5 at least, the mean over classes that have true "
      "boxes; precision and recall at the threshold";
  for (auto& [label, result] : classes) {
    for (const Judged& judged : result.judged) {
      if (!(judged.score > threshold)) continue;
      ++(judged.is_true ? accuracy.true_positives : accuracy.false_positives);
    }
    accuracy.truths += result.truths;
    if (result.truths == 0) continue;
    const auto own = truth.names.find(label);
    const std::string name = truth.one_class            ? "all"
                             : own != truth.names.end() ? own->second
                                                        : name_of(names, label);
    accuracy.classes.push_back({label, name, result.truths, average_precision(&result)});
    accuracy.map50 += accuracy.classes.back().ap50;
  }
  const auto share = [](int64_t part, int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  if (!accuracy.classes.empty()) accuracy.map50 /= static_cast<double>(accuracy.classes.size());
  if (unread_boxes > 0) {
    accuracy.notes.push_back(
        fmt::format("{} of the true boxes lie in frames that were not read ({} of them) and do not count",
                    unread_boxes, unread_frames));
    if (accuracy.truths == 0)
      accuracy.notes.back() += "; compare the frame numbers or image ids of the ground truth with the input";
  }
  if (unlisted > 0)
    accuracy.notes.push_back(
        fmt::format("{} not in the ground truth's list of images and {} not count",
                    unlisted == 1 ? "1 image is" : fmt::format("{} images are", unlisted),
                    unlisted == 1 ? "does" : "do"));
  accuracy.precision = share(accuracy.true_positives, accuracy.true_positives + accuracy.false_positives);
  accuracy.recall = share(accuracy.true_positives, accuracy.truths);
  return accuracy;
}

}  // namespace hone::task
