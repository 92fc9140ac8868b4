// True boxes, and how well detections match them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/described.hpp"
#include "task/detection.hpp"
#include "task/results.hpp"

namespace hone::task {

struct TrueBox {
  Box box;
  int64_t label = 0;
  bool ignored = false;  ///< counts neither if it is found nor if it is missed
  bool crowd = false;    ///< one box around many objects; also ignored
};

struct GroundTruth {
  /// Boxes by the number of the frame, from 0, or by the id of the image.
  std::map<int64_t, std::vector<TrueBox>> frames;
  bool by_image_id = false;
  ImageIds image_ids;  ///< from COCO's list of images
  /// True if no box has a class; all detections then count as one class.
  bool one_class = false;
  /// Names of COCO's categories by their ids; they are the labels of the boxes until name_classes() is
  /// called.
  std::map<int64_t, std::string> categories;
  /// Names of classes that only the ground truth has; their labels follow those of the network.
  std::map<int64_t, std::string> names;
  int64_t empty_boxes = 0;           ///< boxes without an area, which were left out
  std::vector<std::string> assumed;  ///< sentences about assumptions
};

/// Reads MOT's text format or COCO's JSON; boxes without an area are left out. MOT: frame, id, left, top,
/// width, height, flag, class, …; frames and pixels count from 1; a box with flag 0 is ignored; classes count
/// from 1 unless one of them is 0, and -1 means no class. Bad input names the line or the field.
GroundTruth read_ground_truth(const std::filesystem::path& file);

/// Replaces the ids of COCO's categories by the network's labels: categories are matched by name, or by the
/// order of their ids if the network has none of the names.
void name_classes(const std::vector<std::string>& names, GroundTruth* truth);

struct ClassAccuracy {
  int64_t label = 0;
  std::string name;
  int64_t truths = 0;
  double ap50 = 0;
};

struct Accuracy {
  double map50 = 0;  ///< mean of ap50 over the classes that have true boxes
  double precision = 0;
  double recall = 0;
  int64_t truths = 0;
  int64_t true_positives = 0;
  int64_t false_positives = 0;
  double threshold = 0;
  std::string rule;  ///< in words
  std::vector<ClassAccuracy> classes;
  std::vector<std::string> notes;  ///< sentences about boxes and images that do not count
};

/// Average precision as in COCO, for each class over all frames: in the order of falling score, each
/// detection takes the free true box of its frame with the largest IoU of at least 0.5; precision is made
/// monotonic and read at the recalls 0, 0.01 … 1. Precision and recall count the detections above
/// `threshold`. `results` must contain all detections with a score above nearly 0. True boxes of frames
/// without a result do not count, nor do the results of images that COCO's list of images lacks.
Accuracy measure_accuracy(const GroundTruth& truth, const std::vector<FrameResult>& results,
                          const std::vector<std::string>& names, float threshold);

}  // namespace hone::task

namespace hone::base {

template <>
struct Description<task::ClassAccuracy> {
  using T = task::ClassAccuracy;
  static constexpr std::string_view kName = "ClassAccuracy";
  static constexpr auto kFields = std::tuple{
      Field{"label", &T::label, "Index of the class"}, Field{"name", &T::name, "Name of the class"},
      Field{"truths", &T::truths, "True boxes", unit::kCount},
      Field{"ap50", &T::ap50, "Average precision at IoU 0.5", unit::kShare, origin::kMeasured}};
};

template <>
struct Description<task::Accuracy> {
  using T = task::Accuracy;
  static constexpr std::string_view kName = "DetectionAccuracy";
  static constexpr auto kFields = std::tuple{
      Field{"map50", &T::map50, "Mean average precision at IoU 0.5", unit::kShare, origin::kMeasured},
      Field{"precision", &T::precision, "Share of detections above the threshold that are true", unit::kShare,
            origin::kMeasured},
      Field{"recall", &T::recall, "Share of true boxes that were found above the threshold", unit::kShare,
            origin::kMeasured},
      Field{"truths", &T::truths, "True boxes", unit::kCount},
      Field{"true_positives", &T::true_positives, "Detections that are true", unit::kCount},
      Field{"false_positives", &T::false_positives, "Detections that are not", unit::kCount},
      Field{"threshold", &T::threshold, "Scores above which precision and recall count"},
      Field{"rule", &T::rule, "How the figures are defined"},
      Field{"classes", &T::classes, "Of each class"}};
};

}  // namespace hone::base
